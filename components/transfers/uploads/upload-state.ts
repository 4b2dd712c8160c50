// The queue of files: every change it can go through. Pure.
// Guarantees: files keep the order in which they were chosen; failed files and alarms stay until a person deals with them;
// a pause does not change stored files.

import { isProblem, isUnderWay, isUnfinished, type UploadItem } from "./upload-item";

export type UploadQueue = { items: readonly UploadItem[]; isPaused: boolean };
export type UploadFilter = "all" | "unfinished" | "problems" | "noPictures" | "stored";

export const noUploads: UploadQueue = { items: [], isPaused: false };
/** Three at a time: enough to use the connection while one is hashed, few enough that each makes progress. */
const AT_ONCE = 3;

export type UploadAction =
  | { type: "added"; items: readonly UploadItem[] }
  | { type: "changed"; key: number; change: Partial<Omit<UploadItem, "key" | "file">> }
  | { type: "removed"; keys: ReadonlySet<number> }
  /** Stored files leave the list; problems stay. */
  | { type: "cleared" }
  | { type: "paused"; isPaused: boolean };

export function uploadReducer(queue: UploadQueue, action: UploadAction): UploadQueue {
  const { items } = queue;
  switch (action.type) {
    case "added":
      return { ...queue, items: [...items, ...action.items] };
    case "changed": {
      const at = items.findIndex(({ key }) => key === action.key);
      const before = items[at];
      return before ? { ...queue, items: items.with(at, { ...before, ...action.change }) } : queue;
    }
    case "removed":
      return { ...queue, items: items.filter(({ key }) => !action.keys.has(key)) };
    case "cleared":
      return { ...queue, items: items.filter((item) => item.status.kind !== "done" || isProblem(item)) };
    case "paused":
      return { ...queue, isPaused: action.isPaused };
  }
}

export function nextToStart({ items, isPaused }: UploadQueue): UploadItem | undefined {
  const underWay = items.filter(isUnderWay);
  if (isPaused || underWay.length >= AT_ONCE) return undefined;
  return items.find((item) => item.status.kind === "waiting" && !isBehind(item, underWay));
}

/** The same content is being sent to the same place. */
export function isBehind(
  { key, connection, hash }: Pick<UploadItem, "key" | "connection" | "hash">,
  items: readonly UploadItem[],
): boolean {
  if (hash === undefined) return false;
  return items.some((other) => other.key !== key && other.hash === hash && other.connection === connection && isUnderWay(other));
}

export type Tally = Record<UploadFilter | "underWay" | "paused" | "known" | "share", number>;

/** Weighted by bytes, so that one video among a hundred notes does not distort the progress bar. */
export function tallyOf(items: readonly UploadItem[]): Tally {
  const tally = { all: items.length, unfinished: 0, problems: 0, stored: 0, noPictures: 0, underWay: 0, paused: 0, known: 0, share: 0 };
  let [bytes, through] = [0, 0];
  for (const item of items) {
    if (isUnfinished(item)) tally.unfinished += 1;
    if (isUnderWay(item)) tally.underWay += 1;
    if (isProblem(item)) tally.problems += 1;
    if (item.status.kind === "done") tally.stored += 1;
    if (wasKnown(item)) tally.known += 1;
    if (isNoPicture(item)) tally.noPictures += 1;
    if (item.status.kind === "paused") tally.paused += 1;
    // Even an empty file adds a step.
    const weight = item.file.size + 1;
    bytes += weight;
    through += weight * shareOf(item);
  }
  return { ...tally, share: bytes === 0 ? 0 : through / bytes };
}

function shareOf({ status }: UploadItem): number {
  if (status.kind === "done" || status.kind === "failed") return 1;
  return status.kind === "sending" ? status.share : status.kind === "checking" ? 1 : 0;
}

export function filterItems(items: readonly UploadItem[], filter: UploadFilter): readonly UploadItem[] {
  if (filter === "all") return items;
  const isStored = ({ status }: UploadItem) => status.kind === "done";
  const wanted = { unfinished: isUnfinished, problems: isProblem, noPictures: isNoPicture, stored: isStored };
  return items.filter(wanted[filter]);
}

/** The service had its content, so no bytes were sent. */
export function wasKnown({ status, file }: Pick<UploadItem, "status" | "file">): boolean {
  return status.kind === "done" && status.sentBytes === 0 && file.size > 0;
}

function isNoPicture(item: UploadItem): boolean {
  return item.isNoPicture === true;
}
