// What `npm test` runs, two at a time. Only one check at a time starts servers; checks that only compute run beside it.
import { readPlaywright, readVitest } from "./test-results.mjs";

const node = process.execPath;
const tool = (path, ...args) => [node, `node_modules/${path}`, ...args];

/** @param {string} result @param {string} project */
const vitest = (result, project) =>
  tool(
    "vitest/vitest.mjs",
    ...["run", "--project", project, "--reporter=default", "--reporter=json", `--outputFile.json=test-results/${result}.json`],
  );

/** Store tests: each Node version uses a different SQLite version (lib/shared/database/sqlite.ts). */
const storeTests = [
  "tests/unit/shared/sqlite.test.ts",
  "tests/unit/server/written-notes.test.ts",
  ...["audit", "backup", "saved-views", "jobs/job-ledger"].map((name) => `tests/integration/console/${name}.test.ts`),
  ...["database.commit", "assets.change", "assets.search", "history.clear", "jobs.list", "queue.manage"].map(
    (name) => `tests/integration/service/${name}.test.ts`,
  ),
];

/** The other tested versions in README.md. */
const onNode = (version) => ({
  name: `stores on Node ${version}`,
  command: [node, "bin/checks/on-node.mjs", version, `test-results/node-${version}.json`, ...storeTests],
  after: ["build"],
  read: (code) => readVitest(code, `test-results/node-${version}.json`),
});

/**
 * @typedef {import("./test-results.mjs").Results} Results
 * @typedef {{ name: string, command: string[], env?: Record<string, string>, after?: string[], waits?: boolean, givesWay?: boolean }} Check
 * @type {(Check & { read?: (code: number) => Results })[]}
 */
export const checks = [
  { name: "build", command: [node, "bin/start.mjs", "build"] },
  { name: "first load", command: [node, "bin/checks/first-load.mjs", "--check"], after: ["build"] },
  {
    name: "unit, integration, contract, faults",
    command: vitest("tests", "!installed"),
    after: ["build"],
    waits: true,
    read: (code) => readVitest(code, "test-results/tests.json"),
  },
  // For tests that would otherwise build while others run; runs beside tests that do not need it.
  { name: "build below a path", command: [node, "bin/start.mjs", "build"], env: { LIGHTDESK_BASE_PATH: "/desk" }, after: ["build"] },
  // Makes PageProps<"/jobs"> known. A build writes next-env.d.ts too; the last writer decides the folder of the types.
  { name: "types of routes", command: tool("next/dist/bin/next", "typegen"), after: ["build", "build below a path"] },
  {
    name: "browser",
    command: tool("@playwright/test/cli.js", "test"),
    after: ["build", "build below a path"],
    waits: true,
    read: (code) => readPlaywright(code, "test-results/playwright.json"),
  },
  {
    name: "installed",
    command: vitest("installed", "installed"),
    after: ["build", "build below a path"],
    read: (code) => readVitest(code, "test-results/installed.json"),
  },
  onNode("22.23.3"),
  onNode("24.21.0"),
  { name: "lint", command: tool("eslint/bin/eslint.js", ".", "--max-warnings", "0"), givesWay: true },
  { name: "types", command: tool("typescript/bin/tsc", "--noEmit", "-p", "."), after: ["types of routes"], givesWay: true },
  { name: "format", command: tool("prettier/bin/prettier.cjs", "--check", "."), givesWay: true },
  { name: "dead code", command: tool("knip/bin/knip.js"), givesWay: true },
];
