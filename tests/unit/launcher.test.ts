import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { getBuildFolder } from "@/bin/build/build-folder.mjs";
import { withBuildLock } from "@/bin/build/build-lock.mjs";
import { computeFingerprint } from "@/bin/build/fingerprint.mjs";
import { checkNode } from "@/bin/prepare.mjs";
import { startProcess } from "@/tests/support/start-process";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

describe("build inputs", () => {
  let tree = "";
  const writeSource = (file: string, text: string) => writeFileSync(join(tree, file), text);
  const getFingerprint = () => computeFingerprint(tree);

  beforeEach(() => {
    tree = createTemporaryFolder();
    for (const folder of ["app", "lib/server", "tests", ".lightdesk"]) mkdirSync(join(tree, folder), { recursive: true });
    writeSource("package-lock.json", "{}");
    writeSource("app/page.tsx", "one");
    writeSource("lib/server/env.ts", "two");
  });

  test("rebuilds for a changed source, a new one and a changed lock file", () => {
    const values = new Set([getFingerprint()]);
    writeSource("lib/server/env.ts", "three");
    values.add(getFingerprint());
    writeSource("app/layout.tsx", "four");
    values.add(getFingerprint());
    writeSource("package-lock.json", '{ "lockfileVersion": 3 }');
    values.add(getFingerprint());
    expect(values.size).toBe(4);
  });

  test("uses one build folder per base path", () => {
    const folders = ["", "/desk", "/desk/two", "/desk-two", "/desktwo"].map((basePath) => getBuildFolder({ basePath }));
    expect(folders[0]).toBe(".next");
    expect(new Set(folders).size).toBe(5);
    for (const folder of folders) expect(folder).toMatch(/^\.next[^/]*$/);
  });

  test("ignores new timestamps, data and tests", () => {
    const before = getFingerprint();
    utimesSync(join(tree, "app/page.tsx"), 1, 1);
    writeSource("tests/some.test.ts", "a test");
    writeSource(".lightdesk/console.sqlite", "data");
    expect(getFingerprint()).toBe(before);
  });

  test("detects text moved from one file to the next", () => {
    writeSource("app/a.ts", "ab");
    writeSource("app/b.ts", "c");
    const before = getFingerprint();
    writeSource("app/a.ts", "a");
    writeSource("app/b.ts", "bc");
    expect(getFingerprint()).not.toBe(before);
  });
});

test("rejects an old Node version and names the required one", () => {
  expect(() => checkNode("18.20.4")).toThrow("Lightdesk needs Node 20.19 or later; this is 18.20.4.");
  expect(() => checkNode("20.18.1")).toThrow("20.19");
  for (const version of ["20.19.0", "22.0.0", "24.1.0"]) expect(() => checkNode(version)).not.toThrow();
});

describe("build lock", () => {
  let root = "";
  beforeEach(() => {
    root = createTemporaryFolder();
  });

  const getLockPath = () => join(root, ".next-lock");

  test("waits for a running build, logs once and then builds", async () => {
    mkdirSync(getLockPath());
    const lines: string[] = [];
    const buildResult = withBuildLock(
      root,
      () => Promise.resolve("built"),
      (text: string) => {
        lines.push(text);
        rmSync(getLockPath(), { recursive: true });
      },
    );
    expect(await buildResult).toBe("built");
    expect(lines).toEqual(["Waiting for another process that builds in this folder.\n"]);
    expect(existsSync(getLockPath())).toBe(false);
  });

  test("takes over an expired lock", async () => {
    mkdirSync(getLockPath());
    utimesSync(getLockPath(), 1, 1);
    expect(await withBuildLock(root, () => Promise.resolve(2), expect.unreachable)).toBe(2);
  });

  test("holds the lock while it builds and releases it when the build fails", async () => {
    const failedBuild = withBuildLock(root, () => {
      expect(existsSync(getLockPath())).toBe(true);
      return Promise.reject(new Error("build failed"));
    });
    await expect(failedBuild).rejects.toThrow("build failed");
    expect(existsSync(getLockPath())).toBe(false);
  });

  /** A fake bundler that records its run and waits for a file. */
  const bundler = `import { appendFileSync, existsSync } from "node:fs";
export async function bundle() {
  appendFileSync("bundled", "once ");
  while (!existsSync("continue-build")) await new Promise((resolve) => setTimeout(resolve, 20));
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
    await until("the first process builds", () => existsSync(join(root, "bundled")));
    const second = start();
    await until("the second process waits", () => second.output().includes("Waiting for another process"));
    write("continue-build", "");
    expect([await first.exitCode, await second.exitCode]).toEqual([0, 0]);
    expect(readFileSync(join(root, "bundled"), "utf8")).toBe("once ");
  });
});
