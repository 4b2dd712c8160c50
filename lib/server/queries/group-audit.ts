// Groups audit log entries that were one act to the person, shown as one row that unfolds: entries with the same act id, or, from clients
// that send none, many requests within moments.
// Guarantees: pure; every entry is in exactly one row, in order; a row has one member, one family of acts and one
// connection; refusals are marked in it.

import "server-only";
import { type AuditItem, type AuditPart } from "@/lib/contract/audit/audit";
import { familyOf, type AuditThing, readThings } from "@/lib/contract/audit/audit-items";
import { describeMemberChange, readMemberChange } from "@/lib/contract/audit/member-change";

const MOMENT_MS = 10_000;
/** Listed one by one on a page; further ones are only counted. */
const MOST_PARTS = 100;
/** Acts that clients do on many things without an act id; signing in twice, for instance, is two acts. */
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

/** `actId`: the client's id for one act on many things. */
export type Logged = AuditItem & { actId?: string };

/** Each act with its entries, newest first. A row has the id before which the next page begins. */
export function groupAudit(acts: readonly (readonly Logged[])[], most = MOST_PARTS): AuditItem[] {
  const rows: AuditItem[] = [];
  let before: Logged | undefined;
  for (const [newest, ...rest] of acts) {
    if (!newest) continue;
    const row = rows.at(-1);
    if (row && before && isSameAct(before, newest)) {
      rows[rows.length - 1] = { ...together(row), id: newest.id, ...partsOf([newest], most, row) };
    } else rows.push(rowOf([newest, ...rest], most));
    before = newest;
  }
  return rows;
}

function rowOf(entries: readonly [Logged, ...Logged[]], most: number): AuditItem {
  const [newest, ...rest] = entries;
  const parts = partsOf(entries, most);
  // A successful entry describes the act; if none succeeded, the newest refusal does.
  const done = entries.filter(isDone);
  const { outcome, actId: _, ...facts } = done[0] ?? newest;
  if (rest.length === 0) {
    const text = readThings(outcome).outcome;
    const change = text === undefined ? undefined : readMemberChange(text);
    if (change) return { ...facts, change, outcome: describeMemberChange(change), ...parts };
    return { ...facts, ...(text !== undefined && { outcome: text }), ...parts };
  }
  const isMixed = entries.some(({ action }) => action !== facts.action);
  const refused = done.length === 0 ? 0 : entries.length - done.length;
  const row = { ...together(facts), id: newest.id, at: newest.at, ...parts, ...(refused > 0 && { refused }) };
  return isMixed ? { ...row, action: familyOf(facts.action) ?? facts.action } : row;
}

/** Many entries have no single outcome. */
function together({ outcome: _outcome, target: _target, ...rest }: AuditItem): AuditItem {
  return rest;
}

function isDone({ status }: AuditItem): boolean {
  return status < 400;
}

function isSameAct(newer: Logged, older: Logged): boolean {
  return (
    newer.actId === undefined &&
    older.actId === undefined &&
    ofMany.has(newer.action) &&
    newer.action === older.action &&
    newer.member?.id === older.member?.id &&
    newer.via === older.via &&
    newer.connection?.id === older.connection?.id &&
    newer.status === older.status &&
    newer.code === older.code &&
    newer.at - older.at <= MOMENT_MS
  );
}

type Parts = Pick<AuditItem, "moreParts" | "isAtLeast"> & { parts: AuditPart[] };

/** Adds the parts to those of the row that these entries continue. */
function partsOf(entries: readonly AuditItem[], most: number, row: Partial<Parts> = {}): Parts {
  let { moreParts = 0, isAtLeast } = row;
  const { parts = [] } = row;
  for (const entry of entries) {
    const { listed, unlisted, isAtLeast: isSo } = partsOfOne(entry);
    isAtLeast ??= isSo;
    const room = most - parts.length;
    parts.push(...listed.slice(0, room));
    moreParts += Math.max(0, listed.length - room) + unlisted;
  }
  return { parts, ...(moreParts > 0 && { moreParts }), ...(isAtLeast && { isAtLeast }) };
}

function partsOfOne(entry: AuditItem): { listed: AuditPart[]; unlisted: number; isAtLeast?: true } {
  const { things, more: unlisted = 0, isAtLeast, outcome } = readThings(entry.outcome);
  const mark = { at: entry.at, ...(!isDone(entry) && { isRefused: true as const }) };
  const id = entry.target ?? /^(?:id|path|name|prompt_id|task_id)=(.+?)(?= \w+=|$)/.exec(outcome ?? "")?.[1];
  const named: readonly AuditThing[] = things.length > 0 || id === undefined ? things : [{ id }];
  return { listed: named.map((thing) => ({ ...thing, ...mark })), unlisted, isAtLeast };
}
