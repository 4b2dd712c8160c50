// Rows of the audit log with names, and as CSV. Also bundled for commands, which have no session.

import "server-only";
import { type AuditItem, type AuditPart, describeMemberChange, formatMemberIdentity, parseMemberChange } from "@/lib/contract/audit/audit";
import { type AuditTarget, findFamily, parseTargets } from "@/lib/contract/audit/audit-items";
import { BYTE_ORDER_MARK, formatCsvLine } from "@/lib/shared/text";
import { type AuditSearch, type StoredEntry } from "../store/audit/audit";
import { type Store } from "../store/store";

/** Pages list this many parts of a row. Further ones are only counted. */
const MAX_PARTS = 100;

/** `actId` is the client's id for one action on many items. */
export type GroupedAuditItem = AuditItem & { actId?: string };

/** Creates one row per group of entries, newest first. A row's id is the cursor of the next page. */
export function toAuditRows(groups: readonly (readonly GroupedAuditItem[])[], maxParts = MAX_PARTS): AuditItem[] {
  return groups.flatMap(([newestEntry, ...olderEntries]) => (newestEntry ? [toRow([newestEntry, ...olderEntries], maxParts)] : []));
}

function toRow(entries: readonly [GroupedAuditItem, ...GroupedAuditItem[]], maxParts: number): AuditItem {
  const [newestEntry, ...olderEntries] = entries;
  const parts = collectParts(entries, maxParts);
  // A successful entry describes the row. If none succeeded, the newest rejected one does.
  const successfulEntries = entries.filter(isSuccess);
  const { outcome, actId: _actId, ...fields } = successfulEntries[0] ?? newestEntry;
  if (olderEntries.length === 0) {
    const text = parseTargets(outcome).outcome;
    const change = text === undefined ? undefined : parseMemberChange(text);
    if (change) return { ...fields, change, outcome: describeMemberChange(change), ...parts };
    return { ...fields, ...(text !== undefined && { outcome: text }), ...parts };
  }
  const isMixed = entries.some(({ action }) => action !== fields.action);
  const refusedCount = successfulEntries.length === 0 ? 0 : entries.length - successfulEntries.length;
  const { target: _target, ...row } = fields;
  return {
    ...row,
    ...parts,
    id: newestEntry.id,
    at: newestEntry.at,
    action: isMixed ? (findFamily(fields.action) ?? fields.action) : fields.action,
    ...(refusedCount > 0 && { refused: refusedCount }),
  };
}

function isSuccess({ status }: AuditItem): boolean {
  return status < 400;
}

type Parts = Pick<AuditItem, "moreParts" | "isAtLeast"> & { parts: AuditPart[] };

function collectParts(entries: readonly AuditItem[], maxParts: number): Parts {
  let moreParts = 0;
  let isAtLeast: true | undefined;
  const parts: AuditPart[] = [];
  for (const entry of entries) {
    const { listedParts, unlistedCount, ...count } = toParts(entry);
    isAtLeast ??= count.isAtLeast;
    const remainingParts = maxParts - parts.length;
    parts.push(...listedParts.slice(0, remainingParts));
    moreParts += Math.max(0, listedParts.length - remainingParts) + unlistedCount;
  }
  return { parts, ...(moreParts > 0 && { moreParts }), ...(isAtLeast && { isAtLeast }) };
}

function toParts(entry: AuditItem): { listedParts: AuditPart[]; unlistedCount: number; isAtLeast?: true } {
  const { targets: parsedTargets, omittedCount: unlistedCount = 0, isAtLeast, outcome } = parseTargets(entry.outcome);
  const entryFields = { at: entry.at, ...(!isSuccess(entry) && { isRefused: true as const }) };
  const id = entry.target ?? /^(?:id|path|name|prompt_id|task_id)=(.+?)(?= \w+=|$)/.exec(outcome ?? "")?.[1];
  const targets: readonly AuditTarget[] = parsedTargets.length > 0 || id === undefined ? parsedTargets : [{ id }];
  return { listedParts: targets.map((target) => ({ ...target, ...entryFields })), unlistedCount, isAtLeast };
}

type LogStore = Pick<Store, "audit" | "members">;

const EXPORT_PAGE_SIZE = 100;
/** Smaller than for pages, because the file names every target and one entry may have a hundred. */
const EXPORT_ENTRIES = 1_000;

export async function* writeAuditCsv(store: LogStore, names: Names, filter: AuditSearch): AsyncGenerator<string, void> {
  const search = { ...filter, maxId: await store.audit.getNewestId() };
  yield (
    BYTE_ORDER_MARK +
    formatCsvLine([
      "time",
      "member",
      "member_id",
      "action",
      "connection",
      "connection_id",
      "target",
      "status",
      "code",
      "outcome",
      "request_id",
      "items",
      "names",
      "via",
      "member_email",
    ])
  );
  for (let before: number | undefined, isLast = false; !isLast;) {
    const { groups, isLastPage } = await store.audit.listGroups(
      { ...search, before },
      { groups: EXPORT_PAGE_SIZE, entries: EXPORT_ENTRIES },
    );
    const rows = toAuditRows(await toItems(store, groups, names), Number.POSITIVE_INFINITY);
    yield rows.map((row) => formatCsvLine(toCells(row))).join("");
    before = groups.at(-1)?.[0]?.id;
    isLast = isLastPage;
  }
}

function toCells({ at, member, via, action, connection, target, status, code, outcome, requestId, ...counts }: AuditItem) {
  const { parts = [], moreParts = 0, isAtLeast } = counts;
  const cells = [new Date(at).toISOString(), member?.name, member?.id];
  return [
    ...cells,
    action,
    connection?.name,
    connection?.id,
    target,
    status,
    code,
    outcome,
    requestId,
    isAtLeast ? `${parts.length + moreParts}+` : parts.length + moreParts,
    parts.map(formatPart).join("; "),
    via,
    member?.email,
  ];
}

function formatPart({ id, name }: AuditPart): string {
  return name === undefined || name === id ? id : `${name} (${id})`;
}

/** `members` contains labels of members by id. Removed members are added when entries refer to them. */
type Names = { connections: ReadonlyMap<string, string>; members: Map<string, string>; emails: ReadonlyMap<string, string> };

export async function readNames(store: LogStore, connections: readonly { id: string; name: string }[]): Promise<Names> {
  const team = await store.members.list();
  return {
    connections: new Map(connections.map(({ id, name }) => [id, name])),
    members: new Map(team.map((member) => [member.id, formatMemberIdentity(member)])),
    emails: new Map(team.map(({ id, email }) => [id, email])),
  };
}

/** Older entries identify the affected member only by id. A removed member gets the name of their own last entry. */
const ID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const memberActions = new Set(["changeMember", "removeMember", "giveJobsView", "takeJobsView"]);

export async function toItems(store: LogStore, groups: readonly (readonly StoredEntry[])[], names: Names): Promise<GroupedAuditItem[][]> {
  const ids = groups.flat().flatMap(({ action, target = "" }) => (memberActions.has(action) && ID_PATTERN.test(target) ? [target] : []));
  const unknownIds = [...new Set(ids)].filter((id) => !names.members.has(id));
  if (unknownIds.length > 0)
    for (const { id, name, email } of await store.audit.listLoggedMembers(unknownIds))
      names.members.set(id, formatMemberIdentity({ name, email }));
  return groups.map((entries) => entries.map((entry) => toItem(entry, names)));
}

/** True if an older row contains the name of a member's private connection, which newer rows omit. */
function isPrivateName({ action, connectionId }: StoredEntry, { connections }: Names): boolean {
  return ["createConnection", "checkConnection"].includes(action) && (connectionId === undefined || !connections.has(connectionId));
}

function toItem(storedEntry: StoredEntry, names: Names): GroupedAuditItem {
  const { memberId, memberName, memberEmail, connectionId, target, ...entry } = storedEntry;
  const email = memberEmail ?? names.emails.get(memberId ?? "");
  return {
    ...entry,
    ...(target !== undefined &&
      !isPrivateName(storedEntry, names) && { target: (memberActions.has(entry.action) && names.members.get(target)) || target }),
    ...(memberId !== undefined && { member: { id: memberId, name: memberName ?? "", ...(email !== undefined && { email }) } }),
    ...(connectionId !== undefined && { connection: { id: connectionId, name: names.connections.get(connectionId) } }),
  };
}
