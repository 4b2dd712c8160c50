// Measures the gzipped JavaScript that each page loads first. With --check, fails if Jobs exceeds its budget.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { enterProject } from "../prepare.mjs";

const statsFile = ".next/diagnostics/route-bundle-stats.json";
const FRAME_NAME = "the frame";
const consoleFolder = "app/(console)";
const budget = { page: "/jobs", kB: 206, overFrameKB: 35 };

/** @returns {{ page: string, kB: number, overFrameKB: number }[]} by page */
export function measureFirstLoad() {
  if (!existsSync(statsFile)) throw new Error(`${statsFile} is missing: run "npm run build" first.`);
  const sizes = new Map();
  const getGzipSize = (file) => {
    if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(file), { level: 9 }).length);
    return sizes.get(file);
  };
  const sumKB = (files) => files.reduce((sum, file) => sum + getGzipSize(file), 0) / 1000;
  const routeStats = JSON.parse(readFileSync(statsFile, "utf8"));
  const pages = routeStats.map(({ route, firstLoadChunkPaths }) => ({ page: route, kB: sumKB(firstLoadChunkPaths) }));
  const frameKB = sumKB(
    findCommonFiles(
      routeStats.filter(({ route }) => listFramedRoutes().includes(route)).map(({ firstLoadChunkPaths }) => firstLoadChunkPaths),
    ),
  );
  return pages.map(({ page, kB }) => ({ page, kB, overFrameKB: kB - frameKB })).sort((a, b) => a.page.localeCompare(b.page));
}

function listFramedRoutes() {
  const files = readdirSync(consoleFolder, { recursive: true }).filter((file) => /(^|[\\/])page\.tsx$/.test(file));
  const splitFolders = (file) => file.split(/[\\/]/).slice(0, -1);
  return files.map(
    (file) =>
      `/${splitFolders(file)
        .filter((part) => !part.startsWith("("))
        .join("/")}`,
  );
}

function findCommonFiles(fileLists) {
  const [firstFiles, ...otherLists] = fileLists;
  if (!firstFiles) throw new Error(`The build has no page of ${consoleFolder} to compare with.`);
  return firstFiles.filter((file) => otherLists.every((list) => list.includes(file)));
}

function describeFirstLoad(pages) {
  const width = Math.max(...pages.map(({ page }) => page.length));
  return pages
    .map(
      ({ page, kB, overFrameKB }) =>
        `${page.padEnd(width)}  ${kB.toFixed(1).padStart(6)} kB  ${overFrameKB.toFixed(1).padStart(6)} over ${FRAME_NAME}`,
    )
    .join("\n");
}

export function checkFirstLoad(pages) {
  const budgetedPage = pages.find(({ page }) => page === budget.page);
  if (!budgetedPage) throw new Error(`The build has no page ${budget.page}.`);
  const { page, kB, overFrameKB } = budgetedPage;
  const problems = [];
  if (kB > budget.kB) problems.push(`${page} loads ${kB.toFixed(1)} kB; its budget is ${budget.kB} kB.`);
  if (overFrameKB > budget.overFrameKB)
    problems.push(`${page} loads ${overFrameKB.toFixed(1)} kB over ${FRAME_NAME}; its budget is ${budget.overFrameKB} kB.`);
  return problems;
}

function main() {
  enterProject();
  const pages = measureFirstLoad();
  console.log(describeFirstLoad(pages));
  if (!process.argv.includes("--check")) return;
  const problems = checkFirstLoad(pages);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
