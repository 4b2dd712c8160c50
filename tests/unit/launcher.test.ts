import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildFolder } from "@/bin/build/build-folder.mjs";
import { fingerprint } from "@/bin/build/fingerprint.mjs";
import { checkNode } from "@/bin/prepare.mjs";

describe("what a build depends on", () => {
  let tree = "";
  const write = (file: string, text: string) => writeFileSync(join(tree, file), text);
  const now = () => fingerprint(tree);

  beforeEach(() => {
    tree = mkdtempSync(join(tmpdir(), "lightdesk-sources-"));
    for (const folder of ["app", "lib/server", "tests", ".lightdesk"]) mkdirSync(join(tree, folder), { recursive: true });
    write("package-lock.json", "{}");
    write("app/page.tsx", "one");
    write("lib/server/env.ts", "two");
  });
  afterEach(() => rmSync(tree, { recursive: true }));

  test("a changed source, a new one and a changed lock each ask for a build", () => {
    const seen = new Set([now()]);
    write("lib/server/env.ts", "three");
    seen.add(now());
    write("app/layout.tsx", "four");
    seen.add(now());
    write("package-lock.json", '{ "lockfileVersion": 3 }');
    seen.add(now());
    expect(seen.size).toBe(4);
  });

  test("each path has a folder for its build", () => {
    const folders = ["", "/desk", "/desk/two", "/desk-two", "/desktwo"].map((basePath) => buildFolder({ basePath }));
    expect(folders[0]).toBe(".next");
    expect(new Set(folders).size).toBe(5);
    for (const folder of folders) expect(folder).toMatch(/^\.next[^/]*$/);
  });

  test("new time stamps, data and tests do not", () => {
    const before = now();
    utimesSync(join(tree, "app/page.tsx"), 1, 1);
    write("tests/some.test.ts", "a test");
    write(".lightdesk/console.sqlite", "data");
    expect(now()).toBe(before);
  });

  test("text that moves from one file to the next is a change", () => {
    write("app/a.ts", "ab");
    write("app/b.ts", "c");
    const before = now();
    write("app/a.ts", "a");
    write("app/b.ts", "bc");
    expect(now()).not.toBe(before);
  });
});

test("a Node that is too old is refused with the version that is needed", () => {
  expect(() => checkNode("18.20.4")).toThrow("Lightdesk needs Node 20.19 or later; this is 18.20.4.");
  expect(() => checkNode("20.18.1")).toThrow("20.19");
  for (const version of ["20.19.0", "22.0.0", "24.1.0"]) expect(() => checkNode(version)).not.toThrow();
});
