// Entries of the audit log that were one act to the person who did it, shown as one row that unfolds: those that carry one act's id, and of
// clients that give none, many requests within moments.
// Guarantees: pure; every entry is in exactly one row, in its order; a row is about one member, one family of acts and one connection; what
// was refused is marked in it.

import "server-only";
import { type AuditItem, type AuditPart } from "@/lib/contract/audit/audit";
import { familyOf } from "@/lib/contract/audit/audit-acts";
import { type AuditThing, readThings } from "@/lib/contract/audit/audit-items";

const MOMENT_MS = 10_000;
/** Told one by one on a page; of the rest it is said how many they are. */
const MOST_PARTS = 100;
/** What many are done of at a time without saying so; signing in twice is twice. */
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

/** `actId`: of one act on many things, as its client said. */
export type Logged = AuditItem & { actId?: string };

/** Each with the rest of its act, newest first, as they come. A row has the id that the next page begins before. */
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
  // What went through says what the act was; where nothing did, the newest refusal.
  const done = entries.filter(isDone);
  const { outcome, actId: _, ...facts } = done[0] ?? newest;
  if (rest.length === 0) {
    const said = readThings(outcome).outcome;
    return { ...facts, ...(said !== undefined && { outcome: said }), ...parts };
  }
  const isMixed = entries.some(({ action }) => action !== facts.action);
  const refused = done.length === 0 ? 0 : entries.length - done.length;
  const row = { ...together(facts), id: newest.id, at: newest.at, ...parts, ...(refused > 0 && { refused }) };
  return isMixed ? { ...row, action: familyOf(facts.action) ?? facts.action } : row;
}

/** Many have no single outcome. */
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

/** Added to those of the row that goes on in these entries. */
function partsOf(entries: readonly AuditItem[], most: number, row: Partial<Parts> = {}): Parts {
  let { moreParts = 0, isAtLeast } = row;
  const { parts = [] } = row;
  for (const entry of entries) {
    const { told, untold, isAtLeast: isSo } = partsOfOne(entry);
    isAtLeast ??= isSo;
    const room = most - parts.length;
    parts.push(...told.slice(0, room));
    moreParts += Math.max(0, told.length - room) + untold;
  }
  return { parts, ...(moreParts > 0 && { moreParts }), ...(isAtLeast && { isAtLeast }) };
}

function partsOfOne(entry: AuditItem): { told: AuditPart[]; untold: number; isAtLeast?: true } {
  const { things, more: untold = 0, isAtLeast, outcome } = readThings(entry.outcome);
  const mark = { at: entry.at, ...(!isDone(entry) && { isRefused: true as const }) };
  const id = entry.target ?? /^(?:id|path|name|prompt_id|task_id)=(.+?)(?= \w+=|$)/.exec(outcome ?? "")?.[1];
  const named: readonly AuditThing[] = things.length > 0 || id === undefined ? things : [{ id }];
  return { told: named.map((thing) => ({ ...thing, ...mark })), untold, isAtLeast };
}
