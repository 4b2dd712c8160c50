// What `npm test` runs: each check is a command, what it must wait for, and how its result is counted.
// Two run at a time unless a check asks to be alone: what measures time or starts servers wants the machine for itself.
import { readPlaywright, readVitest } from "./test-results.mjs";

const node = process.execPath;
const tool = (path, ...args) => [node, `node_modules/${path}`, ...args];

/**
 * @typedef {import("./test-results.mjs").Results} Results
 * @type {{ name: string, command: string[], env?: Record<string, string>, after?: string[], alone?: boolean, read?: (code: number) => Results }[]}
 */
export const checks = [
  { name: "build", command: [node, "bin/build.mjs"] },
  { name: "format", command: tool("prettier/bin/prettier.cjs", "--check", ".") },
  { name: "lint", command: tool("eslint/bin/eslint.js", ".", "--max-warnings", "0") },
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
    after: ["build", "build below a path", "types"],
    alone: true,
    read: (code) => readVitest(code, "test-results/vitest.json"),
  },
  {
    name: "browser",
    command: tool("@playwright/test/cli.js", "test"),
    after: ["build", "build below a path"],
    alone: true,
    read: (code) => readPlaywright(code, "test-results/playwright.json"),
  },
];
