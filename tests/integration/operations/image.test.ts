import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fingerprint } from "@/bin/build/fingerprint.mjs";
import { requireBuilt } from "./image";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lightdesk-context-"));
  for (const name of ["app", "dist", ".next"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "app/page.tsx"), "one");
  for (const made of ["dist", ".next"]) writeFileSync(join(folder, made, ".lightdesk-built"), fingerprint(folder));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the image is made of a build of the same sources only: an older one would be made anew in the tree it is linked from", () => {
  expect(() => requireBuilt(folder)).not.toThrow();
  rmSync(join(folder, ".next/.lightdesk-built"));
  expect(() => requireBuilt(folder)).toThrow(
    'What is in .next was not built from the sources that the image gets: run "npm run build" first.',
  );
  writeFileSync(join(folder, "app/page.tsx"), "two");
  expect(() => requireBuilt(folder)).toThrow("What is in dist was not built");
});
