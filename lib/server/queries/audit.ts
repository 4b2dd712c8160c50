// The audit log for admins: one page, or a streamed file. Names of other members' own connections are left out.

import "server-only";
import {
  type AuditChoices,
  type AuditFilter,
  type AuditItem,
  type AuditPage,
  type AuditQuery,
  personLabel,
} from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { adminOnly, type Context } from "../auth/viewer";
import { type Parts } from "../composition-type";
import { usableConnections } from "../connections/access";
import { groupAudit, type LoggedAct, MAX_READ_ENTRIES, readNames, toItems, writeAuditCsv } from "./audit-rows";

const HOUR_MS = 60 * 60_000;
const READ_PAGE = 100;

export async function listAudit(context: Context, query: AuditQuery): Promise<Result<AuditPage, Failure>> {
  if (!hasRole(context.viewer.role, "admin")) return failed(adminOnly);
  const { store } = context.composition;
  const { audit } = store;
  const names = await readNames(store, await usableConnections(context));
  const upTo = query.upTo ?? (await audit.newestId());
  const search = { ...searchOf(context.composition, query), upTo };
  const pages: LoggedAct[][] = [];
  let rows: AuditItem[] = [];
  let isOver = false;
  let isFull = true;
  // One row more than the page shows: the last act may continue in rows that were not read.
  while (isFull && rows.length <= query.limit && pages.flat().length < MAX_READ_ENTRIES) {
    const limits = { acts: READ_PAGE, entries: MAX_READ_ENTRIES - pages.flat().length };
    const page = await audit.listActs({ ...search, before: pages.at(-1)?.[0]?.id ?? query.before }, limits);
    pages.push(...(await toItems(store, page.acts, names)));
    rows = groupAudit(pages);
    isOver = page.isOver;
    isFull = page.acts.length === READ_PAGE;
  }
  return ok({ entries: rows.slice(0, query.limit), hasMore: rows.length > query.limit || !isOver, upTo });
}

export async function listAuditChoices({ composition: { store }, viewer }: Context): Promise<Result<AuditChoices, Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { members, actions } = await store.audit.choices();
  return ok({ members: members.map(({ id, name, email }) => ({ id, name: personLabel({ name, email }) })), actions });
}

export async function* auditCsv(context: Context, filter: AuditFilter): AsyncGenerator<string, void> {
  const { store } = context.composition;
  yield* writeAuditCsv(store, await readNames(store, await usableConnections(context)), searchOf(context.composition, filter));
}

function searchOf({ now }: Parts<"now">, { member, action, on, from, to, within }: AuditFilter) {
  const since = within === undefined ? undefined : now() - within * HOUR_MS;
  return { memberId: member, action, connectionId: on, from: Math.max(from ?? 0, since ?? 0) || undefined, to };
}
