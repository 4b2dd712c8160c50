// The folder in which `npm test` keeps its files; here, another folder replaces the machine's memory.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeTestFolder } from "@/bin/checks/test-folder.mjs";

let memory = "";
beforeEach(() => {
  memory = mkdtempSync(join(tmpdir(), "lightdesk-memory-"));
});
afterEach(() => rmSync(memory, { recursive: true }));

/** Runs in a process of its own; returns what it printed, and its pid. */
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

test("where memory is short, or there is none, files lie in the system's folder for what is temporary", () => {
  expect(makeTestFolder(memory, Number.MAX_VALUE)).toBe(tmpdir());
  expect(makeTestFolder(join(memory, "none"), 1)).toBe(tmpdir());
  expect(readdirSync(memory)).toEqual([]);
});

test("where there is room they lie in memory until the process ends", () => {
  const { printed, pid } = inProcess("");
  expect(printed).toMatch(new RegExp(`^${join(memory, "lightdesk-tests")}-${pid}-\\w+ is there$`));
  expect(readdirSync(memory)).toEqual([]);
});

test("what a process that was killed left goes when the next one begins; what one that lives has there stays", () => {
  inProcess('process.kill(process.pid, "SIGKILL")');
  expect(readdirSync(memory)).toHaveLength(1);
  const ofLiving = join(memory, `lightdesk-tests-${process.pid}-abcdef`);
  const ofOthers = join(memory, "another-program");
  for (const folder of [ofLiving, ofOthers]) mkdirSync(folder);
  makeTestFolder(memory, Number.MAX_VALUE);
  expect(readdirSync(memory).sort()).toEqual(["another-program", `lightdesk-tests-${process.pid}-abcdef`]);
  expect(existsSync(ofLiving)).toBe(true);
});
