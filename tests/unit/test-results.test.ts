// The summary at the end of `npm test`, which CI shows for failed tests.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { findSubjectProblem } from "@/bin/checks/commit-subjects.mjs";
import { checkFirstLoad } from "@/bin/checks/first-load.mjs";
import { createTestFolder } from "@/bin/checks/test-folder.mjs";
import { createFailure, formatFailures, formatUnchecked, readPlaywright, readVitest } from "@/bin/checks/test-results.mjs";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

describe("test results", () => {
  let folder = "";
  const writeReport = (value: unknown) => {
    const path = join(folder, "report.json");
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const toProjectPath = (path: string) => join(process.cwd(), path);

  beforeEach(() => (folder = createTemporaryFolder()));

  const createSpec = (title: string, status: string, errors: { message: string }[] = []) => ({
    title,
    tests: [{ status, results: [{ duration: 1500, errors }] }],
  });
  const writePlaywrightReport = (suites: object[], stats: { expected: number; unexpected: number }) =>
    writeReport({ config: { rootDir: toProjectPath("tests/e2e") }, suites, errors: [], stats: { ...stats, flaky: 0 } });
  const createFileResult = (name: string, assertionResults: object[], message = "") => ({
    name: toProjectPath(name),
    message,
    startTime: 0,
    endTime: 10,
    assertionResults,
  });
  const passedTest = { fullName: "sums begin", status: "passed", failureMessages: [], meta: {} };

  test("lists failed browser tests with message and call log only", () => {
    const message = "Error: \u001b[2mexpect(\u001b[22mlocator) failed\n\nCall log:\n  - waiting for getByText('Saved')";
    const suites = [
      { file: "a.spec.ts", specs: [createSpec("it saves", "unexpected", [{ message }])] },
      { file: "b.spec.ts", specs: [createSpec("it reads", "expected")], suites: [{ specs: [createSpec("it lists", "expected")] }] },
    ];
    const results = readPlaywright(1, writePlaywrightReport(suites, { expected: 2, unexpected: 1 }));
    expect(results).toMatchObject({ passed: 2, failed: 1 });
    expect(formatFailures(results.failures).split("\n")).toEqual([
      "FAILED  tests/e2e/a.spec.ts › it saves",
      "        Error: expect(locator) failed",
      "        Call log:",
      "          - waiting for getByText('Saved')",
      "",
    ]);
  });

  test("lists failed unit tests and unloadable files with their errors", () => {
    const path = writeReport({
      numPassedTests: 1,
      numFailedTests: 1,
      testResults: [
        createFileResult("tests/unit/broken.test.ts", [], "Cannot find module"),
        createFileResult("tests/unit/a.test.ts", [
          { fullName: "sums add up", status: "failed", failureMessages: ["AssertionError: expected 1 to be 2\n    at a.test.ts:3"] },
          passedTest,
        ]),
      ],
    });
    expect(readVitest(1, path).failures).toEqual([
      { name: "tests/unit/broken.test.ts", error: "Cannot find module" },
      { name: "tests/unit/a.test.ts › sums add up", error: "AssertionError: expected 1 to be 2\n    at a.test.ts:3" },
    ]);
  });

  test("lists tests that did not run, by missing program or by name", () => {
    const createSkipped = (fullName: string, meta: object) => ({ fullName, status: "skipped", failureMessages: [], meta });
    const vitestReport = writeReport({
      numPassedTests: 1,
      numFailedTests: 0,
      testResults: [
        createFileResult("tests/unit/a.test.ts", [
          createSkipped("behind nginx: a page", { missing: "nginx" }),
          createSkipped("behind nginx: a path", { missing: "nginx" }),
          createSkipped("behind caddy", { missing: "caddy" }),
          createSkipped("forgotten", {}),
          passedTest,
        ]),
      ],
    });
    const { unchecked } = readVitest(0, vitestReport);
    const suites = [{ file: "a.spec.ts", specs: [createSpec("it waits", "skipped")] }];
    const playwrightReport = writePlaywrightReport(suites, { expected: 0, unexpected: 0 });
    expect(formatUnchecked([...unchecked, ...readPlaywright(0, playwrightReport).unchecked]).split("\n")).toEqual([
      "NOT CHECKED  2 of the tests: nginx is missing and could not be installed",
      "NOT CHECKED  1 of the tests: caddy is missing and could not be installed",
      "NOT CHECKED  tests/unit/a.test.ts › forgotten",
      "NOT CHECKED  tests/e2e/a.spec.ts › it waits",
      "",
    ]);
    expect(readPlaywright(0, playwrightReport).failures).toEqual([]);
    expect(formatUnchecked([])).toBe("");
    const manyTests = Array.from({ length: 30 }, (_, index) => ({ name: `test ${index}` }));
    expect(formatUnchecked(manyTests).split("\n").slice(9)).toEqual(["NOT CHECKED  test 9", "NOT CHECKED  and 20 more", ""]);
  });

  test("reports the output of a runner without a report", () => {
    expect(readPlaywright(1, join(folder, "none.json"))).toMatchObject({ passed: 0, failed: 1, failures: [], unchecked: [] });
    expect(readVitest(0, join(folder, "none.json"))).toMatchObject({ passed: 0, failed: 0, unchecked: [] });
    expect(createFailure("build", "Building.\nError: no space left\n").error).toBe("Error: no space left\n");
    expect(createFailure("types", "a.ts(1,1): error TS1").error).toBe("a.ts(1,1): error TS1");
  });

  test("limits the lines per failure when there are many", () => {
    const error = Array.from({ length: 80 }, (_, index) => `line ${index}`).join("\n");
    const countLines = (count: number) =>
      formatFailures(Array.from({ length: count }, (_, index) => ({ name: `test ${index}`, error }))).split("\n").length - 1;
    expect([0, 1, 3, 10, 200].map(countLines)).toEqual([0, 16, 30, 30, 31]);
  });

  test.each([
    ["x".repeat(61), "has 61 characters instead of at most 60"],
    ["fix(service): fixed the queue", 'begins with "fixed" instead of an imperative'],
    ["Adding a filter", 'begins with "Adding" instead of an imperative'],
    ["renames the gallery", 'begins with "renames" instead of an imperative'],
    ["feat(jobs)!: embed the viewer", undefined],
    ["x".repeat(60), undefined],
  ])("checks the commit subject %s", (subject, problem) => expect(findSubjectProblem(subject)).toBe(problem));
});

test("limits the script size of Jobs in total and over the frame", () => {
  const checkJobsPage = (kB: number, overFrameKB: number) => checkFirstLoad([{ page: "/jobs", kB, overFrameKB }]);
  expect(checkJobsPage(206, 35)).toEqual([]);
  expect(checkJobsPage(206.2, 31)).toEqual(["/jobs loads 206.2 kB; its budget is 206 kB."]);
  expect(checkJobsPage(200, 35.1)).toEqual(["/jobs loads 35.1 kB over the frame; its budget is 35 kB."]);
  expect(() => checkFirstLoad([])).toThrow("The build has no page /jobs.");
});

describe("test folder", () => {
  let memoryFolder = "";
  beforeEach(() => {
    memoryFolder = createTemporaryFolder();
  });

  /** Creates a test folder in a new process and returns its output and process id. */
  function runInProcess(code: string): { output: string; pid: number } {
    const file = JSON.stringify(pathToFileURL("bin/checks/test-folder.mjs").href);
    const program = `import { existsSync } from "node:fs";
    import { createTestFolder } from ${file};
    const folder = createTestFolder(${JSON.stringify(memoryFolder)}, 1);
    console.log(folder + (existsSync(folder) ? " is there" : ""));
    ${code}`;
    const { pid, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    return { output: stdout.trim(), pid };
  }

  test("uses the system's temporary folder when memory is short", () => {
    expect(createTestFolder(memoryFolder, Number.MAX_VALUE)).toBe(tmpdir());
    expect(createTestFolder(join(memoryFolder, "none"), 1)).toBe(tmpdir());
    expect(readdirSync(memoryFolder)).toEqual([]);
  });

  test("uses memory when it has enough space", () => {
    const { output, pid } = runInProcess("");
    expect(output).toMatch(new RegExp(`^${join(memoryFolder, "lightdesk-tests")}-${pid}-\\w+ is there$`));
    expect(readdirSync(memoryFolder)).toEqual([]);
  });

  test("removes a killed process's folder and keeps a running one's", () => {
    runInProcess('process.kill(process.pid, "SIGKILL")');
    expect(readdirSync(memoryFolder)).toHaveLength(1);
    const runningFolder = join(memoryFolder, `lightdesk-tests-${process.pid}-abcdef`);
    const otherFolder = join(memoryFolder, "another-program");
    for (const folder of [runningFolder, otherFolder]) mkdirSync(folder);
    createTestFolder(memoryFolder, Number.MAX_VALUE);
    expect(readdirSync(memoryFolder).sort()).toEqual(["another-program", `lightdesk-tests-${process.pid}-abcdef`]);
    expect(existsSync(runningFolder)).toBe(true);
  });
});
