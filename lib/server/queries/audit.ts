// The audit log for pages and handlers: a page of it, or the whole as a file.
// Guarantees: for admins only; names of other members' own connections are left out; the file is read a page at a time, as fast as the
// browser takes it.

import "server-only";
import {
  type AuditChoices,
  type AuditFilter,
  type AuditItem,
  type AuditPage,
  type AuditPart,
  type AuditQuery,
} from "@/lib/contract/audit/audit";
import { personLabel } from "@/lib/contract/audit/member-change";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { BYTE_ORDER_MARK, csvLine } from "@/lib/shared/csv";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { usableConnections } from "../connections/access";
import { type KeptEntry } from "../store/audit/audit";
import { groupAudit, type Logged } from "./group-audit";

const HOUR_MS = 60 * 60_000;
const EXPORT_PAGE = 100;
/** The file names every thing, and one entry may name a hundred. */
const EXPORT_ENTRIES = 1_000;
const READ_PAGE = 100;
/** How many entries are read for a page, and for one row of the file; further ones become another row. */
const MOST_READ = 5_000;
const adminOnly: Failure = { code: "ROLE_TOO_LOW", message: "This needs the role admin.", status: 403 };

export async function listAudit(viewer: Viewer, query: AuditQuery): Promise<Result<AuditPage, Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { audit } = composition().store;
  const names = await readNames(viewer);
  const upTo = query.upTo ?? (await audit.newestId());
  const search = { ...searchOf(query), upTo };
  const read: Logged[][] = [];
  let rows: AuditItem[] = [];
  let isOver = false;
  let isFull = true;
  // One row more than the page shows: the last act may continue in rows that were not read.
  while (isFull && rows.length <= query.limit && read.flat().length < MOST_READ) {
    const most = { acts: READ_PAGE, entries: MOST_READ - read.flat().length };
    const page = await audit.listActs({ ...search, before: read.at(-1)?.[0]?.id ?? query.before }, most);
    read.push(...(await toItems(page.acts, names)));
    rows = groupAudit(read);
    isOver = page.isOver;
    isFull = page.acts.length === READ_PAGE;
  }
  return ok({ entries: rows.slice(0, query.limit), hasMore: rows.length > query.limit || !isOver, upTo });
}

export async function listAuditChoices(viewer: Viewer): Promise<Result<AuditChoices, Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { members, actions } = await composition().store.audit.choices();
  return ok({ members: members.map(({ id, name, email }) => ({ id, name: personLabel({ name, email }) })), actions });
}

/** A plain generator: it ends when the reader stops. */
export async function* auditCsv(viewer: Viewer, filter: AuditFilter): AsyncGenerator<string, void> {
  const names = await readNames(viewer);
  const search = { ...searchOf(filter), upTo: await composition().store.audit.newestId() };
  yield (
    BYTE_ORDER_MARK +
    csvLine([
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
  let before: number | undefined;
  let open: Logged[][] = [];
  for (;;) {
    const { acts, isOver } = await composition().store.audit.listActs(
      { ...search, before },
      { acts: EXPORT_PAGE, entries: EXPORT_ENTRIES },
    );
    before = acts.at(-1)?.[0]?.id;
    const read = [...open, ...(await toItems(acts, names))];
    const rows = groupAudit(read, Number.POSITIVE_INFINITY);
    // The last row may continue in the next page, where it is completed.
    const last = isOver || read.length > MOST_READ ? undefined : rows.pop();
    open = last ? read.filter(([newest]) => newest && newest.id < (rows.at(-1)?.id ?? Number.POSITIVE_INFINITY)) : [];
    if (rows.length > 0) yield rows.map((row) => csvLine(cellsOf(row))).join("");
    if (isOver) return;
  }
}

function cellsOf({ at, member, via, action, connection, target, status, code, outcome, requestId, ...of }: AuditItem) {
  const { parts = [], moreParts = 0, isAtLeast } = of;
  const who = [new Date(at).toISOString(), member?.name, member?.id];
  return [
    ...who,
    action,
    connection?.name,
    connection?.id,
    target,
    status,
    code,
    outcome,
    requestId,
    isAtLeast ? `${parts.length + moreParts}+` : parts.length + moreParts,
    parts.map(partText).join("; "),
    via,
    member?.email,
  ];
}

function partText({ id, name }: AuditPart): string {
  return name === undefined || name === id ? id : `${name} (${id})`;
}

function searchOf({ member, action, on, from, to, within }: AuditFilter) {
  const since = within === undefined ? undefined : composition().now() - within * HOUR_MS;
  return { memberId: member, action, connectionId: on, from: Math.max(from ?? 0, since ?? 0) || undefined, to };
}

/** `people`: labels of members by id; removed ones are added as entries name them. */
type Names = { connections: ReadonlyMap<string, string>; people: Map<string, string>; emails: ReadonlyMap<string, string> };

async function readNames(viewer: Viewer): Promise<Names> {
  const [connections, team] = await Promise.all([usableConnections(viewer), composition().store.members.list()]);
  return {
    connections: new Map(connections.map(({ id, name }) => [id, name])),
    people: new Map(team.map((member) => [member.id, personLabel(member)])),
    emails: new Map(team.map(({ id, email }) => [id, email])),
  };
}

/** Entries of earlier versions name the member they are about by id alone; a removed member is named as in their own last entry. */
const MEMBER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const memberActions = new Set(["changeMember", "removeMember", "giveJobsView", "takeJobsView"]);

async function toItems(acts: readonly (readonly KeptEntry[])[], names: Names): Promise<Logged[][]> {
  const ids = acts.flat().flatMap(({ action, target = "" }) => (memberActions.has(action) && MEMBER_ID.test(target) ? [target] : []));
  const unknown = [...new Set(ids)].filter((id) => !names.people.has(id));
  if (unknown.length > 0)
    for (const { id, name, email } of await composition().store.audit.lastNames(unknown))
      names.people.set(id, personLabel({ name, email }));
  return acts.map((act) => act.map((entry) => toItem(entry, names)));
}

/** Whether a row from before such names were left out holds the name of a member's own connection. */
function isPrivateName({ action, connectionId }: KeptEntry, { connections }: Names): boolean {
  return ["createConnection", "checkConnection"].includes(action) && (connectionId === undefined || !connections.has(connectionId));
}

function toItem(kept: KeptEntry, names: Names): Logged {
  const { memberId, memberName, memberEmail, connectionId, target, ...entry } = kept;
  const email = memberEmail ?? names.emails.get(memberId ?? "");
  return {
    ...entry,
    ...(target !== undefined &&
      !isPrivateName(kept, names) && { target: (memberActions.has(entry.action) && names.people.get(target)) || target }),
    ...(memberId !== undefined && { member: { id: memberId, name: memberName ?? "", ...(email !== undefined && { email }) } }),
    ...(connectionId !== undefined && { connection: { id: connectionId, name: names.connections.get(connectionId) } }),
  };
}
