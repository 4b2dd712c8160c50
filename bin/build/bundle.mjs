// Bundles the code that runs outside Next, lists route methods, and runs the programs of tests/.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const entries = {
  service: "bin/service.ts",
  console: "bin/console.ts",
  "rotate-keys": "bin/rotate-keys.ts",
  members: "bin/members.ts",
  audit: "bin/audit.ts",
  "copy-store": "bin/copy-store.ts",
  backup: "bin/backup.ts",
  restore: "bin/restore.ts",
  doctor: "bin/doctor.ts",
  settings: "lib/server/env.ts",
  "response-worker": "lib/server/upstream/response-worker.ts",
  "node-worker": "lib/service/nodes/worker.ts",
};

/** Bundled, because reading their many small files took 40% of the startup time. */
const bundledPackages = ["@fastify/busboy", "@hono/node-server", "file-type", "hono", "kysely", "undici", "ws", "zod"];

const buildOptions = {
  absWorkingDir: root,
  outdir: "dist",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  alias: { "server-only": join(root, "node_modules/server-only/empty.js") },
  logLevel: "warning",
};

export async function bundle() {
  await Promise.all([
    build({ ...buildOptions, ...createPackageOptions(), entryPoints: entries, sourcemap: true }),
    writeRouteMethods("dist/routes.json"),
  ]);
}

function createPackageOptions() {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const externalPackages = Object.keys(dependencies).filter((name) => !bundledPackages.includes(name));
  // Some packages are not ES modules and load parts of Node with `require`.
  const requires = 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';
  // Equals `node --disable-proto=delete` for all bundles and their worker threads: `__proto__` is a normal key.
  const js = `${requires} delete Object.prototype.__proto__;`;
  return { packages: "bundle", external: externalPackages.flatMap((name) => [name, `${name}/*`]), banner: { js } };
}

/** Bundles a program of tests/ and runs it in this process. `childPrograms`: the programs that it starts, by their names in dist/. */
export async function bundleAndRun(entry, name, childPrograms = {}) {
  await build({ ...buildOptions, entryPoints: { [name]: entry, ...childPrograms } });
  await import(pathToFileURL(join(root, `dist/${name}.mjs`)).href);
}

async function writeRouteMethods(outFile) {
  const files = readdirSync(join(root, "app/api"), { recursive: true, encoding: "utf8" }).filter((file) => /[\\/]route\.ts$/.test(file));
  const entryPoints = files.map((file) => `app/api/${file}`);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: "dist",
    outbase: "app",
    format: "esm",
    metafile: true,
    write: false,
  });
  const routes = Object.entries(metafile.outputs).map(([path, { exports }]) => [path.replace(/^dist(.*)\/route\.js$/, "$1"), exports]);
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, outFile), JSON.stringify(Object.fromEntries(routes)));
}
