// Makes the service's folder. What stands in its way is told in the words of the setting that chose it.

import { makeSyncedFolder } from "./sync-folder";

export function makeDataFolder(path: string): void {
  try {
    makeSyncedFolder(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`LIGHTDESK_DATA_DIR must be a folder that can be written to (${reason}).`);
  }
}
