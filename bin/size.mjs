// `npm run size` prints lines and files per folder, and a few structure metrics.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const SMALL_FILE_LINES = 30;
const topFolders = ["app", "bin", "components", "lib", "tests"];
const detailedFolders = ["components", "lib", "lib/server", "lib/service"];

const files = new Map();
for (const top of topFolders)
  for (const name of readdirSync(top, { recursive: true, encoding: "utf8" }))
    if (/\.(ts|tsx|mjs)$/.test(name)) {
      const path = join(top, name).replaceAll("\\", "/");
      files.set(path, readFileSync(path, "utf8"));
    }
const rootSources = readdirSync(".").filter((name) => /\.(ts|tsx|mjs)$/.test(name) && !name.endsWith(".d.ts"));
const allSources = new Map([...files, ...rootSources.map((name) => [name, readFileSync(name, "utf8")])]);

const countLines = (text) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

function measure(prefix, measuredFiles = [...files]) {
  const matchingFiles = measuredFiles.filter(([path]) => path.startsWith(prefix));
  const lines = matchingFiles.map(([, text]) => countLines(text));
  return {
    lines: lines.reduce((sum, count) => sum + count, 0),
    files: lines.length,
    small: lines.filter((count) => count <= SMALL_FILE_LINES).length,
  };
}

const listFolders = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);

const rows = topFolders.flatMap((top) => [top, ...(detailedFolders.includes(top) ? listFolders(top).flatMap(addSubfolders) : [])]);

function addSubfolders(folder) {
  return detailedFolders.includes(folder) ? [folder, ...listFolders(folder)] : [folder];
}

function listImports(path, text) {
  return [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"([^"]+)"/g)].map(([, name]) =>
    name.startsWith("@/") ? name.slice(2) : name.startsWith(".") ? join(dirname(path), name) : name,
  );
}

const calls = [...allSources]
  .map(([path, text]) => ({ path, count: text.match(/(?<!function )\bgetComposition\(\)/g)?.length ?? 0 }))
  .filter(({ count }) => count > 0);
const productionCalls = calls.filter(({ path }) => !path.startsWith("tests/"));
const sumCounts = (rows) => rows.reduce((sum, { count }) => sum + count, 0);

// lib/server/bff and lib/server/queries are the top layer of lib/server. Other folders must not import them.
const upwardImports = [...files]
  .filter(([path]) => /^lib\/server\/(?!bff\/|queries\/)/.test(path))
  .filter(([path, text]) => listImports(path, text).some((name) => /^lib\/server\/(bff|queries)\//.test(name)));

const [mostImports] = [...files]
  .filter(([path]) => path.startsWith("components/run/"))
  .map(([path, text]) => ({ path, count: listImports(path, text).length }))
  .sort((a, b) => b.count - a.count);

const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync("package.json", "utf8"));
const table = rows.map((folder) => ({ folder, ...measure(`${folder}/`) }));
const libAndBin = [measure("lib/"), measure("bin/")].reduce((a, b) => ({
  lines: a.lines + b.lines,
  files: a.files + b.files,
  small: a.small + b.small,
}));

const print = (...cells) => console.log(`| ${cells.join(" | ")} |`);
print("folder", "lines", "files", `files of ${SMALL_FILE_LINES} lines or fewer`);
print("---", "---:", "---:", "---:");
for (const { folder, lines, files: count, small } of [{ folder: "lib and bin", ...libAndBin }, ...table])
  print(folder, lines, count, small);
console.log();
print("metric", "value");
print("---", "---");
print(
  "getComposition() calls",
  `${sumCounts(productionCalls)} in ${productionCalls.length} files, and ${sumCounts(calls) - sumCounts(productionCalls)} in tests`,
);
print("files of lib/server that import upwards (bff, queries)", upwardImports.length);
print("most imports of a file in components/run", mostImports ? `${mostImports.count} (${mostImports.path})` : "none");
print("dependencies", `${Object.keys(dependencies).length} + ${Object.keys(devDependencies).length}`);
if (existsSync("package-lock.json"))
  print("packages in the lock", Object.keys(JSON.parse(readFileSync("package-lock.json", "utf8")).packages).length - 1);
