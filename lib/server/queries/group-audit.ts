// Entries of the audit log that were one act to the person who did it: many requests within moments, shown as one row that unfolds.
// Guarantees: pure; every entry is in exactly one row, in its order; a row is about one member, one act, one connection and one end.

import "server-only";
import { type AuditItem, type AuditPart } from "@/lib/contract/audit";
import { readThings } from "@/lib/contract/audit-items";

const MOMENT_MS = 10_000;
/** What many are done of at a time; signing in twice is twice. */
const ofMany = new Set([
  "manageQueue",
  "manageHistory",
  "stopJobs",
  "cancelJob",
  "cancelJobs",
  "deleteAsset",
  "addTags",
  "removeTags",
  "uploadAsset",
  "createAssetFromHash",
  "deleteUserdata",
  "submitPrompt",
]);

/** Newest first, as they come. A row has the id of its oldest entry: the next page begins before it. */
export function groupAudit(entries: readonly AuditItem[]): AuditItem[] {
  const rows: AuditItem[] = [];
  let oldest: AuditItem | undefined;
  for (const entry of entries) {
    const row = rows.at(-1);
    const { things, outcome } = readThings(entry.outcome);
    const { outcome: _written, ...facts } = entry;
    const own: AuditItem = { ...facts, ...(outcome !== undefined && { outcome }) };
    const parts = partsOf(own, things);
    if (row && oldest && isSameAct(oldest, entry)) {
      const { outcome: _one, target: _target, ...rest } = row;
      rows[rows.length - 1] = { ...rest, id: entry.id, parts: [...(row.parts ?? []), ...parts] };
    } else rows.push({ ...own, parts });
    oldest = entry;
  }
  return rows;
}

function isSameAct(newer: AuditItem, older: AuditItem): boolean {
  return (
    ofMany.has(newer.action) &&
    newer.action === older.action &&
    newer.member?.id === older.member?.id &&
    newer.connection?.id === older.connection?.id &&
    newer.status === older.status &&
    newer.code === older.code &&
    newer.at - older.at <= MOMENT_MS
  );
}

function partsOf(entry: AuditItem, things: readonly { id: string; name?: string }[]): AuditPart[] {
  if (things.length > 0) return things.map((thing) => ({ ...thing, at: entry.at }));
  const id = entry.target ?? /^(?:id|path|name|prompt_id|task_id)=(\S+)/.exec(entry.outcome ?? "")?.[1];
  return id === undefined ? [] : [{ id, at: entry.at }];
}
