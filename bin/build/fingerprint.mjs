// One hash of everything a build depends on. Uses contents, not times: a fresh clone has new times and old contents.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folders = ["app", "components", "lib", "bin", "public"];
const rootFile = /^(\.env.*|.*\.(ts|js|mjs|cjs|json))$/;
const withoutEffect = new Set([
  "next-env.d.ts",
  "knip.json",
  ".dependency-cruiser.cjs",
  "eslint.config.mjs",
  "vitest.config.ts",
  "playwright.config.ts",
]);

export function fingerprint(root) {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([process.platform, process.arch]));
  for (const file of sources(root)) {
    const bytes = readFileSync(join(root, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

function sources(root) {
  const rootFiles = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isFile() && rootFile.test(entry.name) && !withoutEffect.has(entry.name))
    .map((entry) => entry.name);
  return [...rootFiles, ...folders.flatMap((folder) => filesUnder(root, folder))].sort();
}

function filesUnder(root, folder) {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesUnder(root, path) : entry.isFile() ? [path] : [];
  });
}
