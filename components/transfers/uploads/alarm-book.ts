// Alarms about stored files that differ from what was sent, kept in this browser until a person dismisses them, even across a reload.
// Guarantees: bounded, the newest stay; other tabs get each change.
// Must never: hold more of a file than its name, its size and the two hashes.

import { type KeptIn, ofBrowser, persisted } from "@/lib/browser/persisted";
import { list, number, object, type ReadBy, text } from "@/lib/contract/json/readers";
import { isAlarm, type UploadItem } from "./upload-item";

/** `id`: the one made here for the file. `ours`: absent if the size alone showed the difference. */
const alarm = object({ id: text, assetId: text, name: text, size: number, theirs: text, atMs: number }, { connection: text, ours: text });
export type KeptAlarm = ReadBy<typeof alarm>;
export const ALARMS_KEY = "lightdesk.uploads.alarms";
const MOST = 100;

/** Always the same object, on the server too. */
export const noAlarms: readonly KeptAlarm[] = [];

export function createAlarmBook(keptIn: KeptIn = ofBrowser) {
  const kept = persisted(ALARMS_KEY, readAlarms, keptIn);
  return {
    get: kept.get,
    subscribe: kept.subscribe,
    add: (alarm: KeptAlarm) => void kept.set([...kept.get().filter(({ id }) => id !== alarm.id), alarm].slice(-MOST)),
    remove(id: string): void {
      const before = kept.get();
      if (before.some((alarm) => alarm.id === id)) kept.set(before.filter((alarm) => alarm.id !== id));
    },
  };
}

function readAlarms(kept: unknown): readonly KeptAlarm[] {
  return list(alarm)(kept)?.slice(-MOST) ?? noAlarms;
}

export function toKeptAlarm(item: UploadItem, atMs: number): KeptAlarm | undefined {
  const { id, connection, file, about, hash, status } = item;
  if (!isAlarm(item) || status.kind !== "done" || status.check.kind !== "differs") return undefined;
  const { theirs } = status.check;
  return { id, connection, assetId: status.asset.id, name: about.name || file.name, size: file.size, ours: hash, theirs, atMs };
}

export const keptAlarms = createAlarmBook();
