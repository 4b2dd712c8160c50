// Two starts in one folder: one builds, the other waits for it.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withBuildLock } from "@/bin/build/build-lock.mjs";
import { startProcess } from "@/tests/support/start-process";
import { until } from "@/tests/support/until";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lightdesk-lock-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const lock = () => join(root, ".next-lock");

test("waits for the process that builds, says so once, and then builds", async () => {
  mkdirSync(lock());
  const said: string[] = [];
  const built = withBuildLock(
    root,
    () => Promise.resolve("built"),
    (text: string) => {
      said.push(text);
      rmSync(lock(), { recursive: true });
    },
  );
  expect(await built).toBe("built");
  expect(said).toEqual(["Waiting for another start, which builds in this folder.\n"]);
  expect(existsSync(lock())).toBe(false);
});

test("takes over a lock that nobody renews", async () => {
  mkdirSync(lock());
  utimesSync(lock(), 1, 1);
  expect(await withBuildLock(root, () => Promise.resolve(2), expect.unreachable)).toBe(2);
});

test("holds the lock while it builds and releases it when the build fails", async () => {
  const failing = withBuildLock(root, () => {
    expect(existsSync(lock())).toBe(true);
    return Promise.reject(new Error("no room"));
  });
  await expect(failing).rejects.toThrow("no room");
  expect(existsSync(lock())).toBe(false);
});

/** Stands in for the bundler: notes that it runs, and ends once it may. */
const bundler = `import { appendFileSync, existsSync } from "node:fs";
export async function bundle() {
  appendFileSync("bundled", "once ");
  while (!existsSync("go-on")) await new Promise((resolve) => setTimeout(resolve, 20));
}`;

test("lets the second start wait for what the first builds, and use it", async () => {
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  cpSync("bin", join(root, "bin"), { recursive: true });
  mkdirSync(join(root, "node_modules"));
  for (const file of ["package-lock.json", "node_modules/.package-lock.json"]) write(file, '{"packages":{}}');
  write("bin/build/bundle.mjs", bundler);
  write("bin/prepare-only.mjs", 'import { ensureBundles } from "./prepare.mjs";\nawait ensureBundles();');
  const start = () => startProcess("bin/prepare-only.mjs", {}, [], { cwd: root });
  const first = start();
  await until("the first builds", () => existsSync(join(root, "bundled")));
  const second = start();
  await until("the second waits", () => second.output().includes("Waiting for another start"));
  write("go-on", "");
  expect([await first.ended, await second.ended]).toEqual([0, 0]);
  expect(readFileSync(join(root, "bundled"), "utf8")).toBe("once ");
});
