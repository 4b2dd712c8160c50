// Installs packages and builds bundles and pages before a start. Uses plain Node, because a fresh clone has no packages.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { getBuildFolder } from "./build/build-folder.mjs";
import { withBuildLock } from "./build/build-lock.mjs";
import { computeFingerprint } from "./build/fingerprint.mjs";
import { ensureInstalled, isInstalled } from "./build/install-packages.mjs";
import { run } from "./run.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

const MIN_NODE_VERSION = [20, 19];
const bundles = { folder: "dist", stamp: "dist/.lightdesk-built" };

export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])) return;
  throw new Error(`Lightdesk needs Node ${MIN_NODE_VERSION.join(".")} or later; this is ${version}.`);
}

export function enterProject() {
  const dataDir = process.env.LIGHTDESK_DATA_DIR?.trim();
  if (dataDir && !dataDir.startsWith("~")) process.env.LIGHTDESK_DATA_DIR = resolve(dataDir);
  process.chdir(root);
}

/** Resolves with the fingerprint of the sources. `withDevelopment` also installs the packages of checks and benchmarks. */
export async function ensureBundles({ withDevelopment = false } = {}) {
  checkNode();
  if (!isInstalled(root, withDevelopment)) await withBuildLock(root, () => ensureInstalled(root, withDevelopment));
  const expectedStamp = computeFingerprint(root);
  await buildOnce(bundles, expectedStamp, async () => {
    const { bundle } = await import("./build/bundle.mjs");
    await bundle();
  });
  return expectedStamp;
}

export async function ensureBuilt(expectedStamp, basePathOption) {
  // Checks all settings before the build, to report a wrong PORT at once.
  const basePath = basePathOption ?? (await loadBundle("settings")).readEnv().basePath;
  const folder = getBuildFolder({ basePath });
  await buildOnce({ folder, stamp: `${folder}/.lightdesk-built` }, expectedStamp + basePath, () => buildPages(folder, basePath));
}

export function loadBundle(name) {
  return import(pathToFileURL(join(root, `dist/${name}.mjs`)).href);
}

/** The stamp is written last, so that partial builds do not count. */
async function buildOnce({ folder, stamp }, expectedStamp, build) {
  const file = join(root, stamp);
  const isBuilt = () => existsSync(file) && readFileSync(file, "utf8") === expectedStamp;
  if (isBuilt()) return;
  await withBuildLock(root, async () => {
    if (isBuilt()) return;
    rmSync(file, { force: true });
    await build();
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(file, expectedStamp);
  });
}

async function buildPages(folder, basePath) {
  const startedMs = performance.now();
  process.stderr.write(`Building the console${basePath && ` for the path ${basePath}`}; this takes about a minute.\n`);
  const env = { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", LIGHTDESK_BASE_PATH: basePath };
  const { code, output } = await run(process.execPath, [join(root, "node_modules/next/dist/bin/next"), "build"], { cwd: root, env });
  if (process.exitCode) process.exit();
  if (code !== 0) throw new Error(`The build failed with this output:\n${output}`);
  await finishPages(join(root, folder));
  process.stderr.write(`Built in ${Math.round((performance.now() - startedMs) / 1000)} s.\n`);
}

const compress = promisify(brotliCompress);
const MIN_COMPRESSED_BYTES = 1000;

/** As the first line of a file, this makes V8 compile its functions eagerly, off the main thread. */
const EAGER_COMPILE_HINT = "//# allFunctionsCalledOnLoad\n";

/** @param {string} buildFolder the folder of `next build` */
async function finishPages(buildFolder) {
  const routeStats = JSON.parse(readFileSync(join(buildFolder, "diagnostics/route-bundle-stats.json"), "utf8"));
  const firstLoadFiles = new Set(
    routeStats.flatMap(({ firstLoadChunkPaths }) => firstLoadChunkPaths.map((path) => path.replace(`${basename(buildFolder)}/`, ""))),
  );
  await Promise.all([...firstLoadFiles].map((path) => addEagerCompileHint(join(buildFolder, path))));
  const folder = join(buildFolder, "static");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.(js|css)$/.test(file));
  await Promise.all(files.map((file) => compressFile(join(folder, file))));
}

async function addEagerCompileHint(file) {
  const text = await readFile(file, "utf8");
  if (!text.startsWith(EAGER_COMPILE_HINT)) await writeFile(file, EAGER_COMPILE_HINT + text);
}

async function compressFile(file) {
  const bytes = await readFile(file);
  if (bytes.length < MIN_COMPRESSED_BYTES) return;
  await writeFile(`${file}.br`, await compress(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
}
