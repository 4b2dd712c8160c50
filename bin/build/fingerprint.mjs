// Hashes everything that a build depends on. Uses contents instead of times, because fresh clones have new times.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const sourceFolders = ["app", "components", "lib", "bin", "public"];
const rootFilePattern = /^(\.env.*|.*\.(ts|js|mjs|cjs|json))$/;
const ignoredFiles = new Set([
  "next-env.d.ts",
  "knip.json",
  ".dependency-cruiser.cjs",
  "eslint.config.mjs",
  "vitest.config.ts",
  "playwright.config.ts",
]);

export function computeFingerprint(root) {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([process.platform, process.arch]));
  for (const file of listSources(root)) {
    const bytes = readFileSync(join(root, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function listSources(root) {
  const rootFiles = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isFile() && rootFilePattern.test(entry.name) && !ignoredFiles.has(entry.name))
    .map((entry) => entry.name);
  return [...rootFiles, ...sourceFolders.flatMap((folder) => listFiles(root, folder))].sort();
}

function listFiles(root, folder) {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(root, path) : entry.isFile() ? [path] : [];
  });
}
