// `npm test [-- NAMES]`: runs the checks, and prints errors, skipped tests and `N passed, N failed`.
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { ensureBrowser } from "./browser.mjs";
import { createTestFolder } from "./checks/test-folder.mjs";
import { createFailure, formatFailures, formatUnchecked, readPlaywright, readVitest } from "./checks/test-results.mjs";
import { ensureBundles, enterProject } from "./prepare.mjs";
import { run } from "./run.mjs";

const node = process.execPath;
const createToolCommand = (path, ...args) => [node, `node_modules/${path}`, ...args];

/** @param {string} result @param {string} project */
const createVitestCommand = (result, project) =>
  createToolCommand(
    "vitest/vitest.mjs",
    ...["run", "--project", project, "--reporter=default", "--reporter=json", `--outputFile.json=test-results/${result}.json`],
  );

/** Store tests: each Node version uses a different SQLite version (lib/shared/database/sqlite.ts). */
const storeTests = [
  "tests/unit/shared/sqlite.test.ts",
  "tests/unit/server/job-index-writes.test.ts",
  ...["audit", "backup", "saved-views", "jobs/job-search"].map((name) => `tests/integration/console/${name}.test.ts`),
  ...["database.commit", "assets.search", "queue.manage"].map((name) => `tests/integration/service/${name}.test.ts`),
];

/** For the other Node versions in README.md. */
const createNodeCheck = (version) => ({
  name: `stores on Node ${version}`,
  command: [node, "bin/checks/test-on-node.mjs", version, `test-results/node-${version}.json`, ...storeTests],
  after: ["build"],
  read: (code) => readVitest(code, `test-results/node-${version}.json`),
});

/** @typedef {import("./checks/test-results.mjs").Results} Results */
/** @type {{ name: string, command: string[], env?: Record<string, string>, after?: string[], isExclusive?: boolean, isLowPriority?: boolean, read?: (code: number) => Results }[]} */
const checks = [
  { name: "build", command: [node, "bin/start.mjs", "build"] },
  { name: "first load", command: [node, "bin/checks/first-load.mjs", "--check"], after: ["build"] },
  {
    name: "unit, integration, contract, faults",
    command: createVitestCommand("tests", "!installed"),
    after: ["build"],
    isExclusive: true,
    read: (code) => readVitest(code, "test-results/tests.json"),
  },
  { name: "build with base path", command: [node, "bin/start.mjs", "build"], env: { LIGHTDESK_BASE_PATH: "/desk" }, after: ["build"] },
  // Generates types such as PageProps<"/jobs">. Builds also write next-env.d.ts, so the last writer decides the folder of the types.
  { name: "route types", command: createToolCommand("next/dist/bin/next", "typegen"), after: ["build", "build with base path"] },
  {
    name: "browser",
    command: createToolCommand("@playwright/test/cli.js", "test"),
    after: ["build", "build with base path"],
    isExclusive: true,
    read: (code) => readPlaywright(code, "test-results/playwright.json"),
  },
  {
    name: "installed",
    command: createVitestCommand("installed", "installed"),
    after: ["build", "build with base path"],
    read: (code) => readVitest(code, "test-results/installed.json"),
  },
  createNodeCheck("22.23.3"),
  createNodeCheck("24.21.0"),
  { name: "commits", command: [node, "bin/checks/commit-subjects.mjs"] },
  { name: "lint", command: createToolCommand("eslint/bin/eslint.js", ".", "--max-warnings", "0"), isLowPriority: true },
  {
    name: "types",
    command: createToolCommand("typescript-native/bin/tsc", "--noEmit", "-p", "."),
    after: ["route types"],
    isLowPriority: true,
  },
  { name: "format", command: createToolCommand("prettier/bin/prettier.cjs", "--check", "."), isLowPriority: true },
  { name: "dead code", command: createToolCommand("knip/bin/knip.js"), isLowPriority: true },
];

const startedMs = performance.now();
const requestedChecks = process.argv.slice(2);
const totals = { passed: 0, failed: 0 };
const failures = [];
const unchecked = [];

try {
  enterProject();
  await ensureBundles({ withDevelopment: true });
  rmSync("test-results", { recursive: true, force: true });
  mkdirSync("test-results");
  const selectedChecks = checks.filter(
    ({ name }) => requestedChecks.length === 0 || requestedChecks.some((requestedName) => name.includes(requestedName)),
  );
  process.env.TMPDIR = createTestFolder();
  // Installs the browser while CPU-bound checks run.
  const browser = selectedChecks.some(({ name }) => name === "browser") ? ensureBrowser() : Promise.resolve();
  // Prevents an unhandled rejection. The browser check reports the error.
  browser.catch(() => undefined);
  await runChecks(selectedChecks, browser);
} catch (error) {
  process.stdout.write(`${error.stack ?? error}\n`);
  totals.failed += 1;
}
process.stdout.write(
  `${formatFailures(failures)}${formatUnchecked(unchecked)}${formatSeconds(startedMs)} in all\n${totals.passed} passed, ${totals.failed} failed\n`,
);
process.exitCode ||= totals.failed === 0 ? 0 : 1;

async function runChecks(selectedChecks, browser) {
  const pendingChecks = [...selectedChecks];
  const runningChecks = new Map();
  const maxRunning = Math.min(2, availableParallelism());
  const isUnfinished = (name) => pendingChecks.some((check) => check.name === name) || runningChecks.has(name);
  const canStart = (check) =>
    !check.after?.some(isUnfinished) && !(check.isExclusive && [...runningChecks.values()].some(({ isExclusive }) => isExclusive));

  while (pendingChecks.length > 0 || runningChecks.size > 0) {
    for (let nextCheck; runningChecks.size < maxRunning && (nextCheck = pendingChecks.find(canStart));) {
      const check = nextCheck;
      pendingChecks.splice(pendingChecks.indexOf(check), 1);
      runningChecks.set(check.name, {
        isExclusive: check.isExclusive,
        completion: runCheck(check, browser).then(() => runningChecks.delete(check.name)),
      });
    }
    await Promise.race([...runningChecks.values()].map(({ completion }) => completion));
    if (process.exitCode) return;
  }
}

async function runCheck({ name, command: [file, ...args], env, isLowPriority, read }, browser) {
  if (name === "browser") await browser;
  const checkStartedMs = performance.now();
  // Checks use the build without a base path.
  const settings = { ...process.env, LIGHTDESK_BASE_PATH: "", ...env, NEXT_TELEMETRY_DISABLED: "1", FORCE_COLOR: "0" };
  const { code, output } = await run(file, args, { env: settings, isLowPriority });
  const { passed, failed, failures: checkFailures, unchecked: skippedChecks } = read?.(code) ?? toResults(code);
  totals.passed += passed;
  totals.failed += failed;
  unchecked.push(...skippedChecks);
  if (failed > 0) failures.push(...(checkFailures.length > 0 ? checkFailures : [createFailure(name, output)]));
  if (failed > 0) process.stdout.write(`\n--- ${name} ---\n${output.trimEnd()}\n--- end of ${name} ---\n\n`);
  process.stdout.write(
    `${failed > 0 ? "FAILED" : "ok    "}  ${name}  (${formatSeconds(checkStartedMs)}${read ? `, ${passed} passed, ${failed} failed` : ""})\n`,
  );
}

function toResults(code) {
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, failures: [], unchecked: [] };
}

function formatSeconds(startMs) {
  return `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
}
