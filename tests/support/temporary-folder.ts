import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAfterwards } from "./close-afterwards";

/** Creates an empty folder that is removed after the test or file that created it. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-"));
  closeAfterwards(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
