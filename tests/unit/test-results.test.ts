// The end of the output of `npm test`: what a page that shows only this end says of failed tests.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { beginnings, failureOf, notChecked, readPlaywright, readVitest } from "@/bin/checks/test-results.mjs";

let folder = "";
const report = (value: unknown) => {
  const path = join(folder, "report.json");
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const here = (path: string) => join(process.cwd(), path);

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "lightdesk-results-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test("a browser test that failed is named with its message and call log, and one that passed is not", () => {
  const spec = (title: string, status: string, errors: { message: string }[]) => ({
    title,
    tests: [{ status, results: [{ duration: 1500, errors }] }],
  });
  const message = "Error: \u001b[2mexpect(\u001b[22mlocator) failed\n\nCall log:\n  - waiting for getByText('Saved')";
  const path = report({
    config: { rootDir: here("tests/e2e") },
    suites: [
      { file: "a.spec.ts", specs: [spec("it saves", "unexpected", [{ message }])] },
      { file: "b.spec.ts", specs: [spec("it reads", "expected", [])], suites: [{ specs: [spec("it lists", "expected", [])] }] },
    ],
    errors: [],
    stats: { expected: 2, unexpected: 1, flaky: 0 },
  });
  const results = readPlaywright(1, path);
  expect(results).toMatchObject({ passed: 2, failed: 1 });
  expect(beginnings(results.failures).split("\n")).toEqual([
    "FAILED  tests/e2e/a.spec.ts › it saves",
    "        Error: expect(locator) failed",
    "        Call log:",
    "          - waiting for getByText('Saved')",
    "",
  ]);
});

test("a unit test that failed and a file that does not load are named with their errors", () => {
  const path = report({
    numPassedTests: 1,
    numFailedTests: 1,
    testResults: [
      { name: here("tests/unit/broken.test.ts"), message: "Cannot find module", startTime: 0, endTime: 5, assertionResults: [] },
      {
        name: here("tests/unit/a.test.ts"),
        message: "",
        startTime: 0,
        endTime: 10,
        assertionResults: [
          { fullName: "sums add up", status: "failed", failureMessages: ["AssertionError: expected 1 to be 2\n    at a.test.ts:3"] },
          { fullName: "sums begin", status: "passed", failureMessages: [] },
        ],
      },
    ],
  });
  expect(readVitest(1, path).failures).toEqual([
    { name: "tests/unit/broken.test.ts", error: "Cannot find module" },
    { name: "tests/unit/a.test.ts › sums add up", error: "AssertionError: expected 1 to be 2\n    at a.test.ts:3" },
  ]);
});

test("tests that were not run are listed by the program that was missing, and by name where none was", () => {
  const left = (fullName: string, meta: object) => ({ fullName, status: "skipped", failureMessages: [], meta });
  const ofVitest = report({
    numPassedTests: 1,
    numFailedTests: 0,
    testResults: [
      {
        name: here("tests/unit/a.test.ts"),
        message: "",
        startTime: 0,
        endTime: 10,
        assertionResults: [
          left("behind nginx: a page", { missing: "nginx" }),
          left("behind nginx: a path", { missing: "nginx" }),
          left("behind caddy", { missing: "caddy" }),
          left("forgotten", {}),
          { fullName: "sums begin", status: "passed", failureMessages: [], meta: {} },
        ],
      },
    ],
  });
  const { unchecked } = readVitest(0, ofVitest);
  const spec = { title: "it waits", tests: [{ status: "skipped", results: [{ duration: 0, errors: [] }] }] };
  const ofPlaywright = report({
    config: { rootDir: here("tests/e2e") },
    suites: [{ file: "a.spec.ts", specs: [spec] }],
    stats: { expected: 0, unexpected: 0, flaky: 0 },
  });
  expect(notChecked([...unchecked, ...readPlaywright(0, ofPlaywright).unchecked]).split("\n")).toEqual([
    "NOT CHECKED  2 of the tests: nginx is not here and could not be installed",
    "NOT CHECKED  1 of the tests: caddy is not here and could not be installed",
    "NOT CHECKED  tests/unit/a.test.ts › forgotten",
    "NOT CHECKED  tests/e2e/a.spec.ts › it waits",
    "",
  ]);
  expect(readPlaywright(0, ofPlaywright).failures).toEqual([]);
  expect(notChecked([])).toBe("");
  const many = Array.from({ length: 30 }, (_, at) => ({ name: `test ${at}` }));
  expect(notChecked(many).split("\n").slice(9)).toEqual(["NOT CHECKED  test 9", "NOT CHECKED  and 20 more", ""]);
});

test("a runner that wrote no report has failed, and its output is the reason", () => {
  expect(readPlaywright(1, join(folder, "none.json"))).toMatchObject({ passed: 0, failed: 1, failures: [], unchecked: [] });
  expect(readVitest(0, join(folder, "none.json"))).toMatchObject({ passed: 0, failed: 0, unchecked: [] });
  expect(failureOf("build", "Building.\nError: no space left\n").error).toBe("Error: no space left\n");
  expect(failureOf("types", "a.ts(1,1): error TS1").error).toBe("a.ts(1,1): error TS1");
});

test("however many failed, the end has room for them: one in fifteen lines, ten in thirty", () => {
  const error = Array.from({ length: 80 }, (_, at) => `line ${at}`).join("\n");
  const lines = (count: number) =>
    beginnings(Array.from({ length: count }, (_, at) => ({ name: `test ${at}`, error }))).split("\n").length - 1;
  expect(lines(0)).toBe(0);
  expect(lines(1)).toBe(16);
  expect(lines(3)).toBe(30);
  expect(lines(10)).toBe(30);
  expect(lines(200)).toBe(31);
});
