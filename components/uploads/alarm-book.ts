// Alarms of stored files that differ from what was sent, kept in this browser until somebody dismisses them: a reload takes none away.
// Guarantees: never throws; bounded, the newest stay; other tabs hear of each change. Where a browser keeps nothing they hold until the tab goes.
// Must never: hold more of a file than its name, its size and the two hashes.

import { writeExactJson } from "@/lib/contract/exact-json";
import { isObject, numberOf, parseJson, textOf } from "@/lib/contract/json";
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
/** As much of a window as is used. */
type AlarmStorage = { storage: () => Pick<Storage, "getItem" | "setItem">; onOther: (heard: () => void) => () => void };

const ALARMS_KEY = "lightdesk.uploads.alarms";
const MOST = 100;

export function createAlarmBook({ storage, onOther }: AlarmStorage) {
  let alarms: readonly KeptAlarm[] | undefined;
  const listeners = new Set<() => void>();

  function read(): readonly KeptAlarm[] {
    try {
      const kept = parseJson(storage().getItem(ALARMS_KEY) ?? "");
      return Array.isArray(kept) ? kept.flatMap(toAlarm).slice(-MOST) : [];
    } catch {
      return alarms ?? [];
    }
  }
  function change(next: readonly KeptAlarm[]): void {
    alarms = next.slice(-MOST);
    try {
      storage().setItem(ALARMS_KEY, writeExactJson(alarms));
    } catch {
      // Full or forbidden: it holds until the page goes.
    }
    for (const notify of listeners) notify();
  }

  return {
    get: (): readonly KeptAlarm[] => (alarms ??= read()),
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      const forget = onOther(() => {
        alarms = read();
        listener();
      });
      return () => {
        listeners.delete(listener);
        forget();
      };
    },
    add: (alarm: KeptAlarm): void => change([...read().filter(({ id }) => id !== alarm.id), alarm]),
    remove(id: string): void {
      const before = read();
      if (before.some((alarm) => alarm.id === id)) change(before.filter((alarm) => alarm.id !== id));
    },
  };
}

export function toKeptAlarm(item: UploadItem, atMs: number): KeptAlarm | undefined {
  const { id, connection, file, about, hash, status } = item;
  if (!isAlarm(item) || status.kind !== "done" || status.check.kind !== "differs") return undefined;
  const { theirs } = status.check;
  return { id, connection, assetId: status.asset.id, name: about.name || file.name, size: file.size, ours: hash, theirs, atMs };
}

/** What somebody else wrote there, or an older version of this page, is left out. */
function toAlarm(kept: unknown): KeptAlarm[] {
  if (!isObject(kept)) return [];
  const [id, assetId, name, theirs] = [textOf(kept.id), textOf(kept.assetId), textOf(kept.name), textOf(kept.theirs)];
  const [size, atMs] = [numberOf(kept.size), numberOf(kept.atMs)];
  if (id === undefined || assetId === undefined || name === undefined || theirs === undefined) return [];
  if (size === undefined || atMs === undefined) return [];
  return [{ id, connection: textOf(kept.connection), assetId, name, size, ours: textOf(kept.ours), theirs, atMs }];
}

/** Those of this browser. */
export const keptAlarms = createAlarmBook({
  storage: () => window.localStorage,
  onOther(heard) {
    const listen = ({ key }: StorageEvent) => {
      if (key === null || key === ALARMS_KEY) heard();
    };
    window.addEventListener("storage", listen);
    return () => window.removeEventListener("storage", listen);
  },
});
