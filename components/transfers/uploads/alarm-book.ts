// Alarms of stored files that differ from what was sent, kept in this browser until a person dismisses them: a reload takes none away.
// Guarantees: bounded, the newest stay; other tabs are told of each change.
// Must never: hold more of a file than its name, its size and the two hashes.

import { type KeptIn, ofBrowser, persisted } from "@/lib/browser/persisted";
import { isObject, numberOf, textOf } from "@/lib/contract/json/json";
import { isAlarm, type UploadItem } from "./upload-item";

export type KeptAlarm = {
  /** The one that was made for the file here. */
  id: string;
  connection?: string;
  assetId: string;
  name: string;
  size: number;
  /** Undefined where the size alone gave it away. */
  ours?: string;
  theirs: string;
  atMs: number;
};
export const ALARMS_KEY = "lightdesk.uploads.alarms";
const MOST = 100;

/** The same one always, on the server too. */
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
  return Array.isArray(kept) ? kept.flatMap(toAlarm).slice(-MOST) : noAlarms;
}

export function toKeptAlarm(item: UploadItem, atMs: number): KeptAlarm | undefined {
  const { id, connection, file, about, hash, status } = item;
  if (!isAlarm(item) || status.kind !== "done" || status.check.kind !== "differs") return undefined;
  const { theirs } = status.check;
  return { id, connection, assetId: status.asset.id, name: about.name || file.name, size: file.size, ours: hash, theirs, atMs };
}

/** What something else wrote there, or an older version of this page, is left out. */
function toAlarm(kept: unknown): KeptAlarm[] {
  if (!isObject(kept)) return [];
  const [id, assetId, name, theirs] = [textOf(kept.id), textOf(kept.assetId), textOf(kept.name), textOf(kept.theirs)];
  const [size, atMs] = [numberOf(kept.size), numberOf(kept.atMs)];
  if (id === undefined || assetId === undefined || name === undefined || theirs === undefined) return [];
  if (size === undefined || atMs === undefined) return [];
  return [{ id, connection: textOf(kept.connection), assetId, name, size, ours: textOf(kept.ours), theirs, atMs }];
}

/** Those of this browser. */
export const keptAlarms = createAlarmBook();
