// The end of `npm test` output, which CI pages show for failed tests.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { faultOfSubject } from "@/bin/checks/commit-subjects.mjs";
import { makeTestFolder } from "@/bin/checks/test-folder.mjs";
import { beginnings, failureOf, notChecked, readPlaywright, readVitest } from "@/bin/checks/test-results.mjs";
import { temporaryFolder } from "@/tests/support/temporary-folder";

describe("test results", () => {
  let folder = "";
  const report = (value: unknown) => {
    const path = join(folder, "report.json");
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const projectPath = (path: string) => join(process.cwd(), path);

  beforeEach(() => (folder = temporaryFolder()));

  test("lists failed browser tests with message and call log only", () => {
    const spec = (title: string, status: string, errors: { message: string }[]) => ({
      title,
      tests: [{ status, results: [{ duration: 1500, errors }] }],
    });
    const message = "Error: \u001b[2mexpect(\u001b[22mlocator) failed\n\nCall log:\n  - waiting for getByText('Saved')";
    const path = report({
      config: { rootDir: projectPath("tests/e2e") },
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

  test("lists failed unit tests and unloadable files with their errors", () => {
    const path = report({
      numPassedTests: 1,
      numFailedTests: 1,
      testResults: [
        { name: projectPath("tests/unit/broken.test.ts"), message: "Cannot find module", startTime: 0, endTime: 5, assertionResults: [] },
        {
          name: projectPath("tests/unit/a.test.ts"),
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

  test("lists tests not run by the missing program or by name", () => {
    const createSkipped = (fullName: string, meta: object) => ({ fullName, status: "skipped", failureMessages: [], meta });
    const ofVitest = report({
      numPassedTests: 1,
      numFailedTests: 0,
      testResults: [
        {
          name: projectPath("tests/unit/a.test.ts"),
          message: "",
          startTime: 0,
          endTime: 10,
          assertionResults: [
            createSkipped("behind nginx: a page", { missing: "nginx" }),
            createSkipped("behind nginx: a path", { missing: "nginx" }),
            createSkipped("behind caddy", { missing: "caddy" }),
            createSkipped("forgotten", {}),
            { fullName: "sums begin", status: "passed", failureMessages: [], meta: {} },
          ],
        },
      ],
    });
    const { unchecked } = readVitest(0, ofVitest);
    const spec = { title: "it waits", tests: [{ status: "skipped", results: [{ duration: 0, errors: [] }] }] };
    const ofPlaywright = report({
      config: { rootDir: projectPath("tests/e2e") },
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
    const manyTests = Array.from({ length: 30 }, (_, at) => ({ name: `test ${at}` }));
    expect(notChecked(manyTests).split("\n").slice(9)).toEqual(["NOT CHECKED  test 9", "NOT CHECKED  and 20 more", ""]);
  });

  test("reports the output of a runner without a report", () => {
    expect(readPlaywright(1, join(folder, "none.json"))).toMatchObject({ passed: 0, failed: 1, failures: [], unchecked: [] });
    expect(readVitest(0, join(folder, "none.json"))).toMatchObject({ passed: 0, failed: 0, unchecked: [] });
    expect(failureOf("build", "Building.\nError: no space left\n").error).toBe("Error: no space left\n");
    expect(failureOf("types", "a.ts(1,1): error TS1").error).toBe("a.ts(1,1): error TS1");
  });

  test("limits the lines per failure to fit any number of them", () => {
    const error = Array.from({ length: 80 }, (_, at) => `line ${at}`).join("\n");
    const lines = (count: number) =>
      beginnings(Array.from({ length: count }, (_, at) => ({ name: `test ${at}`, error }))).split("\n").length - 1;
    expect(lines(0)).toBe(0);
    expect(lines(1)).toBe(16);
    expect(lines(3)).toBe(30);
    expect(lines(10)).toBe(30);
    expect(lines(200)).toBe(31);
  });

  test.each([
    ["x".repeat(61), "has 61 characters instead of at most 60"],
    ["fix(service): fixed the queue", 'begins with "fixed" instead of an imperative'],
    ["Adding a filter", 'begins with "Adding" instead of an imperative'],
    ["renames the gallery", 'begins with "renames" instead of an imperative'],
    ["feat(jobs)!: embed the viewer", undefined],
    ["x".repeat(60), undefined],
  ])("judges the commit subject %s", (subject, fault) => expect(faultOfSubject(subject)).toBe(fault));
});

describe("test folder", () => {
  let memory = "";
  beforeEach(() => {
    memory = temporaryFolder();
  });

  /** Runs in its own process and returns its output and pid. */
  function inProcess(ending: string): { printed: string; pid: number } {
    const file = JSON.stringify(pathToFileURL("bin/checks/test-folder.mjs").href);
    const program = `import { existsSync } from "node:fs";
    import { makeTestFolder } from ${file};
    const folder = makeTestFolder(${JSON.stringify(memory)}, 1);
    console.log(folder + (existsSync(folder) ? " is there" : ""));
    ${ending}`;
    const { pid, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    return { printed: stdout.trim(), pid };
  }

  test("uses the system's temporary folder when memory is short", () => {
    expect(makeTestFolder(memory, Number.MAX_VALUE)).toBe(tmpdir());
    expect(makeTestFolder(join(memory, "none"), 1)).toBe(tmpdir());
    expect(readdirSync(memory)).toEqual([]);
  });

  test("uses memory when it has room", () => {
    const { printed, pid } = inProcess("");
    expect(printed).toMatch(new RegExp(`^${join(memory, "lightdesk-tests")}-${pid}-\\w+ is there$`));
    expect(readdirSync(memory)).toEqual([]);
  });

  test("removes a killed process's folder and keeps a running one's", () => {
    inProcess('process.kill(process.pid, "SIGKILL")');
    expect(readdirSync(memory)).toHaveLength(1);
    const ofLiving = join(memory, `lightdesk-tests-${process.pid}-abcdef`);
    const ofOthers = join(memory, "another-program");
    for (const folder of [ofLiving, ofOthers]) mkdirSync(folder);
    makeTestFolder(memory, Number.MAX_VALUE);
    expect(readdirSync(memory).sort()).toEqual(["another-program", `lightdesk-tests-${process.pid}-abcdef`]);
    expect(existsSync(ofLiving)).toBe(true);
  });
});
