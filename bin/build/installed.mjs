// Checks that node_modules is what package-lock.json says, for this Node. A stamp answers at once; a person's own `npm install` is accepted
// if npm's record of it agrees with the lock and the native database loads.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.mjs";

const stampOf = (root) => join(root, "node_modules/.lightdesk-installed");

/** @param {string} root */
export function isInstalled(root) {
  return readText(stampOf(root)) === wantedStamp(root);
}

/** @param {string} root */
export async function ensureInstalled(root) {
  const wanted = wantedStamp(root);
  if (isInstalled(root)) return;
  if (!(await agreesWithLock(root))) await install(root);
  writeFileSync(stampOf(root), wanted);
}

function wantedStamp(root) {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${lock} ${process.platform} ${process.arch} abi ${process.versions.modules}\n`;
}

async function agreesWithLock(root) {
  const record = readText(join(root, "node_modules/.package-lock.json"));
  if (record === undefined) return false;
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const installed = JSON.parse(record).packages;
  const same = Object.entries(lock).every(
    ([path, entry]) => path === "" || entry.optional || (installed[path]?.version === entry.version && existsSync(join(root, path))),
  );
  if (!same) return false;
  const native = await run(process.execPath, ["-e", 'new (require("better-sqlite3"))(":memory:")'], { cwd: root });
  return native.code === 0;
}

async function install(root) {
  const started = performance.now();
  process.stderr.write("Installing the packages; the first time takes a minute or two.\n");
  // Development packages too: the build needs them, even if NODE_ENV is production.
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { code, output } = await run(npm, ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: root });
  if (process.exitCode) process.exit();
  if (code !== 0) throw new Error(`npm ci failed; this is what it printed:\n${output}`);
  process.stderr.write(`Installed in ${Math.round((performance.now() - started) / 1000)} s.\n`);
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
