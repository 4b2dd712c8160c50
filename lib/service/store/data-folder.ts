// Makes the service's folder. What stands in its way is told in the words of the setting that chose it.
// Step by step instead of `recursive`: on some file systems Node's recursive mkdir never ends.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

export function makeDataFolder(path: string): void {
  try {
    makeStepwise(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`LIGHTDESK_DATA_DIR must be a folder that can be written to (${reason}).`);
  }
}

function makeStepwise(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new Error(`${path} is no folder`);
  if (dirname(path) !== path) makeStepwise(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
