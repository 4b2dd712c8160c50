// Files on their way to the service: what each one is doing, and every change it can go through. Pure.
// Guarantees: a file that fails stays in sight until somebody sends it again or takes it away; the order is that of choosing.

import { type Failure } from "@/lib/contract/failure";

export type UploadStatus =
  | { kind: "waiting" }
  | { kind: "sending"; share: number }
  /** `isNew` is false where the service had the content already. */
  | { kind: "done"; assetId: string; isNew: boolean }
  | { kind: "failed"; failure: Failure };

export type UploadItem = { key: number; file: File; connection?: string; status: UploadStatus };

export type UploadAction =
  | { type: "added"; items: readonly UploadItem[] }
  | { type: "status"; key: number; status: UploadStatus }
  | { type: "removed"; key: number }
  | { type: "cleared" };

export function uploadReducer(items: readonly UploadItem[], action: UploadAction): readonly UploadItem[] {
  switch (action.type) {
    case "added":
      return [...items, ...action.items];
    case "status":
      return items.map((item) => (item.key === action.key ? { ...item, status: action.status } : item));
    case "removed":
      return items.filter(({ key }) => key !== action.key);
    case "cleared":
      return items.filter(({ status }) => status.kind === "sending" || status.kind === "waiting");
  }
}

/** Two at a time: enough to fill a line, few enough that each one moves. */
const AT_ONCE = 2;

export function nextToSend(items: readonly UploadItem[]): UploadItem | undefined {
  const sending = items.filter(({ status }) => status.kind === "sending").length;
  return sending >= AT_ONCE ? undefined : items.find(({ status }) => status.kind === "waiting");
}
