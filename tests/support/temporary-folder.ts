import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeAfterwards } from "./close-afterwards";

/** An empty folder, removed after the test or file that created it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-"));
  closeAfterwards(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
