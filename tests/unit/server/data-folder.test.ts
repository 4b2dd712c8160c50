import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { holdDataFolder } from "@/lib/server/installation";

const root = mkdtempSync(join(tmpdir(), "lightdesk-folder-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("refuses a data folder that another console holds, in plain words", () => {
  const folder = join(root, "data");
  holdDataFolder(folder);
  expect(() => holdDataFolder(folder)).toThrow(
    `LIGHTDESK_DATA_DIR must be a folder of its own: another Lightdesk runs with ${folder}. Stop it first.`,
  );
  // The store reports a folder that cannot be used.
  writeFileSync(join(root, "file"), "");
  expect(() => holdDataFolder(join(root, "file"))).not.toThrow();
});
