import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { buildFolder } from "@/bin/build/build-folder.mjs";
import { withBuildLock } from "@/bin/build/build-lock.mjs";
import { fingerprint } from "@/bin/build/fingerprint.mjs";
import { checkNode } from "@/bin/prepare.mjs";
import { startProcess } from "@/tests/support/start-process";
import { temporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

describe("build inputs", () => {
  let tree = "";
  const write = (file: string, text: string) => writeFileSync(join(tree, file), text);
  const now = () => fingerprint(tree);

  beforeEach(() => {
    tree = temporaryFolder();
    for (const folder of ["app", "lib/server", "tests", ".lightdesk"]) mkdirSync(join(tree, folder), { recursive: true });
    write("package-lock.json", "{}");
    write("app/page.tsx", "one");
    write("lib/server/env.ts", "two");
  });

  test("rebuilds for a changed source, a new one and a changed lock file", () => {
    const values = new Set([now()]);
    write("lib/server/env.ts", "three");
    values.add(now());
    write("app/layout.tsx", "four");
    values.add(now());
    write("package-lock.json", '{ "lockfileVersion": 3 }');
    values.add(now());
    expect(values.size).toBe(4);
  });

  test("has one build folder per base path", () => {
    const folders = ["", "/desk", "/desk/two", "/desk-two", "/desktwo"].map((basePath) => buildFolder({ basePath }));
    expect(folders[0]).toBe(".next");
    expect(new Set(folders).size).toBe(5);
    for (const folder of folders) expect(folder).toMatch(/^\.next[^/]*$/);
  });

  test("ignores new timestamps, data and tests", () => {
    const before = now();
    utimesSync(join(tree, "app/page.tsx"), 1, 1);
    write("tests/some.test.ts", "a test");
    write(".lightdesk/console.sqlite", "data");
    expect(now()).toBe(before);
  });

  test("detects text moved from one file to the next", () => {
    write("app/a.ts", "ab");
    write("app/b.ts", "c");
    const before = now();
    write("app/a.ts", "a");
    write("app/b.ts", "bc");
    expect(now()).not.toBe(before);
  });
});

test("refuses an old Node and names the needed version", () => {
  expect(() => checkNode("18.20.4")).toThrow("Lightdesk needs Node 20.19 or later; this is 18.20.4.");
  expect(() => checkNode("20.18.1")).toThrow("20.19");
  for (const version of ["20.19.0", "22.0.0", "24.1.0"]) expect(() => checkNode(version)).not.toThrow();
});

describe("build lock", () => {
  let root = "";
  beforeEach(() => {
    root = temporaryFolder();
  });

  const lock = () => join(root, ".next-lock");

  test("waits for a running build, logs once and then builds", async () => {
    mkdirSync(lock());
    const lines: string[] = [];
    const built = withBuildLock(
      root,
      () => Promise.resolve("built"),
      (text: string) => {
        lines.push(text);
        rmSync(lock(), { recursive: true });
      },
    );
    expect(await built).toBe("built");
    expect(lines).toEqual(["Waiting for another process that builds in this folder.\n"]);
    expect(existsSync(lock())).toBe(false);
  });

  test("takes over a lock that isn't renewed", async () => {
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

  /** Replaces the bundler: records that it runs, and ends on demand. */
  const bundler = `import { appendFileSync, existsSync } from "node:fs";
export async function bundle() {
  appendFileSync("bundled", "once ");
  while (!existsSync("go-on")) await new Promise((resolve) => setTimeout(resolve, 20));
}`;

  test("reuses the first build when started twice", async () => {
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
    await until("the second waits", () => second.output().includes("Waiting for another process"));
    write("go-on", "");
    expect([await first.ended, await second.ended]).toEqual([0, 0]);
    expect(readFileSync(join(root, "bundled"), "utf8")).toBe("once ");
  });
});
