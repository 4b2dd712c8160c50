// Installs packages when node_modules doesn't match package-lock.json. Only the checks need development packages.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.mjs";

const getStampPath = (root) => join(root, "node_modules/.lightdesk-installed");

export function isInstalled(root, withDevelopment) {
  const stamp = readText(getStampPath(root));
  return stamp === createStamp(root, true) || (!withDevelopment && stamp === createStamp(root, false));
}

export async function ensureInstalled(root, withDevelopment) {
  if (isInstalled(root, withDevelopment)) return;
  const installedPackages = readPackages(join(root, "node_modules/.package-lock.json"));
  const includesDevelopment = withDevelopment || Object.values(installedPackages ?? {}).some(({ dev }) => dev);
  if (!installedPackages || !matchesLockfile(root, installedPackages, includesDevelopment))
    await install(root, includesDevelopment, installedPackages !== undefined);
  writeFileSync(getStampPath(root), createStamp(root, includesDevelopment));
}

function createStamp(root, withDevelopment) {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${lock} ${process.platform} ${process.arch}${withDevelopment ? " with development packages" : ""}\n`;
}

function matchesLockfile(root, installedPackages, withDevelopment) {
  return Object.entries(readPackages(join(root, "package-lock.json"))).every(
    ([path, { version, optional, dev }]) =>
      path === "" ||
      optional ||
      (dev && !withDevelopment) ||
      (installedPackages[path]?.version === version && existsSync(join(root, path))),
  );
}

async function install(root, withDevelopment, isPartial) {
  const startedMs = performance.now();
  process.stderr.write(
    isPartial ? "Installing the missing packages.\n" : "Installing packages. The first time takes about half a minute.\n",
  );
  // `npm ci` would delete packages that a running console still loads.
  const command = isPartial ? ["install", "--no-save"] : ["ci"];
  const devOption = withDevelopment ? "--include=dev" : "--omit=dev";
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { code, output } = await run(npm, [...command, devOption, "--no-audit", "--no-fund", "--loglevel=error"], { cwd: root });
  if (process.exitCode) process.exit();
  if (code !== 0) throw new Error(`npm ${command[0]} failed:\n${output}`);
  process.stderr.write(`Installed in ${Math.round((performance.now() - startedMs) / 1000)} s.\n`);
}

function readPackages(file) {
  const text = readText(file);
  return text === undefined ? undefined : JSON.parse(text).packages;
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
