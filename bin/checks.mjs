// What `npm test` runs: each check is a command, what it must wait for, and how its result is counted.
// Two run at a time unless a check asks to be alone: what measures time or starts servers wants the machine for itself.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const node = process.execPath;
const tool = (path, ...args) => [node, `node_modules/${path}`, ...args];

/**
 * @typedef {{ passed: number, failed: number, slowest?: { file: string, ms: number }[] }} Counted
 * @type {{ name: string, command: string[], env?: Record<string, string>, after?: string[], alone?: boolean, count?: (code: number) => Counted }[]}
 */
export const checks = [
  { name: "build", command: [node, "bin/build.mjs"] },
  { name: "format", command: tool("prettier/bin/prettier.cjs", "--check", ".") },
  { name: "lint", command: tool("eslint/bin/eslint.js", ".", "--max-warnings", "0") },
  {
    name: "layers",
    command: tool(
      "dependency-cruiser/bin/dependency-cruise.mjs",
      "--config",
      ".dependency-cruiser.cjs",
      "app",
      "bin",
      "components",
      "lib",
      "tests",
    ),
  },
  { name: "dead code", command: tool("knip/bin/knip.js") },
  // They make PageProps<"/jobs"> known.
  { name: "types of routes", command: tool("next/dist/bin/next", "typegen"), after: ["build"] },
  { name: "types", command: tool("typescript/bin/tsc", "--noEmit", "-p", "."), after: ["types of routes"] },
  // For tests/e2e/base-path.spec.ts, which would else build while others measure. It writes next-env.d.ts, which types are read from.
  { name: "build below a path", command: [node, "bin/build.mjs"], env: { LIGHTDESK_BASE_PATH: "/desk" }, after: ["types"] },
  { name: "first load", command: [node, "bin/first-load.mjs", "--check"], after: ["build"] },
  {
    name: "unit, integration, contract, faults",
    command: tool("vitest/vitest.mjs", "run", "--reporter=default", "--reporter=json", "--outputFile.json=test-results/vitest.json"),
    after: ["build", "types"],
    alone: true,
    count: (code) => countVitest(code, "test-results/vitest.json"),
  },
  {
    name: "browser",
    command: tool("@playwright/test/cli.js", "test"),
    after: ["build", "build below a path"],
    alone: true,
    count: (code) => countPlaywright(code, "test-results/playwright.json"),
  },
];

function countVitest(code, file) {
  const report = readJson(file);
  const files = report?.testResults?.map(({ name, startTime, endTime }) => ({ file: name, ms: endTime - startTime }));
  return { ...counted(code, report?.numPassedTests ?? 0, report?.numFailedTests ?? 0), slowest: slowest(files) };
}

function countPlaywright(code, file) {
  const report = readJson(file);
  const stats = report?.stats;
  const files = report?.suites?.map((suite) => ({ file: `${report.config.rootDir}/${suite.file}`, ms: durationOf(suite) }));
  return {
    ...counted(code, stats?.expected ?? 0, (stats?.unexpected ?? 0) + (stats?.flaky ?? 0)),
    slowest: slowest(files),
  };
}

function durationOf({ specs = [], suites = [] }) {
  const own = specs.flatMap(({ tests }) => tests.flatMap(({ results }) => results.map(({ duration }) => duration)));
  return [...own, ...suites.map(durationOf)].reduce((sum, ms) => sum + ms, 0);
}

function slowest(files = []) {
  const first = files.toSorted((one, other) => other.ms - one.ms).slice(0, 10);
  return first.map(({ file, ms }) => ({ file: relative(process.cwd(), file), ms }));
}

/** A runner that ends badly without a failed test (a file that does not load, no report at all) has failed all the same. */
function counted(code, passed, failed) {
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}
