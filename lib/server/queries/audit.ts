// The audit log for admins, as a page or a streamed file. Names of other members' private connections are left out.

import "server-only";
import {
  type AuditFilter,
  type AuditFilterValues,
  type AuditPage,
  type AuditQuery,
  formatMemberIdentity,
} from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { adminRequiredFailure, type Context } from "../auth/viewer";
import { type Dependencies } from "../composition-type";
import { listUsableConnections } from "../connections/access";
import { readNames, toAuditRows, toItems, writeAuditCsv } from "./audit-rows";

const HOUR_MS = 60 * 60_000;
/** Limits the entries read for a page, because one bulk action may have a thousand. */
const MAX_ENTRIES = 5_000;

export async function listAudit(context: Context, query: AuditQuery): Promise<Result<AuditPage, Failure>> {
  if (!hasRole(context.viewer.role, "admin")) return failed(adminRequiredFailure);
  const { store } = context.composition;
  const { audit } = store;
  const names = await readNames(store, await listUsableConnections(context));
  const upTo = query.upTo ?? (await audit.getNewestId());
  const search = { ...toSearch(context.composition, query), maxId: upTo };
  const { groups, isLastPage } = await audit.listGroups(
    { ...search, before: query.before },
    { groups: query.limit + 1, entries: MAX_ENTRIES },
  );
  const rows = toAuditRows(await toItems(store, groups.slice(0, query.limit), names));
  return ok({ entries: rows, hasMore: groups.length > query.limit || !isLastPage, upTo });
}

export async function listAuditFilterValues({ composition: { store }, viewer }: Context): Promise<Result<AuditFilterValues, Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminRequiredFailure);
  const { members, actions } = await store.audit.listFilterValues();
  return ok({ members: members.map(({ id, name, email }) => ({ id, name: formatMemberIdentity({ name, email }) })), actions });
}

export async function* streamAuditCsv(context: Context, filter: AuditFilter): AsyncGenerator<string, void> {
  const { store } = context.composition;
  yield* writeAuditCsv(store, await readNames(store, await listUsableConnections(context)), toSearch(context.composition, filter));
}

function toSearch({ now }: Dependencies<"now">, { member, action, on, from, to, within }: AuditFilter) {
  const sinceMs = within === undefined ? undefined : now() - within * HOUR_MS;
  return { memberId: member, action, connectionId: on, from: Math.max(from ?? 0, sinceMs ?? 0) || undefined, to };
}
