// Gzip kB of the JavaScript that each page loads first, as the build lists it; with --check, fails when Jobs outgrows its budget.
// The empty page of the same app is `/`: it stands in the same frame, has the same error boundary, and holds nothing but a redirect.
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { pathToFileURL } from "node:url";
import { enterProject } from "./prepare.mjs";

const listing = ".next/diagnostics/route-bundle-stats.json";
const emptyPage = "/";
const budget = { page: "/jobs", kB: 35 };

/** @returns {{ page: string, kB: number, overEmptyKB: number }[]} by page */
export function measureFirstLoad() {
  if (!existsSync(listing)) throw new Error(`There is no ${listing}: run "npm run build" first.`);
  const sizes = new Map();
  const gzipped = (file) => {
    if (!sizes.has(file)) sizes.set(file, gzipSync(readFileSync(file), { level: 9 }).length);
    return sizes.get(file);
  };
  const pages = JSON.parse(readFileSync(listing, "utf8")).map(({ route, firstLoadChunkPaths }) => ({
    page: route,
    kB: firstLoadChunkPaths.reduce((sum, file) => sum + gzipped(file), 0) / 1000,
  }));
  const empty = pages.find(({ page }) => page === emptyPage);
  if (!empty) throw new Error(`The build has no page ${emptyPage} to compare with.`);
  return pages.map(({ page, kB }) => ({ page, kB, overEmptyKB: kB - empty.kB })).sort((a, b) => a.page.localeCompare(b.page));
}

export function describeFirstLoad(pages) {
  const width = Math.max(...pages.map(({ page }) => page.length));
  return pages
    .map(
      ({ page, kB, overEmptyKB }) =>
        `${page.padEnd(width)}  ${kB.toFixed(1).padStart(6)} kB  ${overEmptyKB.toFixed(1).padStart(6)} over ${emptyPage}`,
    )
    .join("\n");
}

function main() {
  enterProject();
  const pages = measureFirstLoad();
  console.log(describeFirstLoad(pages));
  const watched = pages.find(({ page }) => page === budget.page);
  if (!watched) throw new Error(`The build has no page ${budget.page}.`);
  if (process.argv.includes("--check") && watched.overEmptyKB > budget.kB) {
    console.log(`${budget.page} loads ${watched.overEmptyKB.toFixed(1)} kB over ${emptyPage}; its budget is ${budget.kB} kB.`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
