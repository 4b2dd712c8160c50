// Targets and outcomes of requests for the audit log.

import "server-only";
import { fileOfAddress, maskedAddress } from "@/lib/contract/assets/file-refs";
import { type AuditThing, idsInResponse, MAX_THINGS, requestedIds, type ThingsCount } from "@/lib/contract/audit/audit-items";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { callForBrowser } from "../answers/process-response";
import { redactForBrowser } from "../answers/redact";
import { type Access } from "../connections/access";
import { toPage } from "../job-index/list-reader";
import { type CallInput } from "../upstream/outgoing";

export type AuditTargets = ThingsCount & { things: AuditThing[] };

/** Short, because the act itself waits for it. */
const LOOK = { exchangeMs: 5000, attempts: 1 };

export function toAuditThings(ids: readonly string[], access: Access): AuditThing[] {
  const { seenNames } = access.composition;
  const things = ids.map((id) => ({ id, name: seenNames.find(access.connection.id, id) }));
  return redactForBrowser(things, access);
}

export async function auditTargetsFromRequest(operation: Operation, access: Access, input: CallInput): Promise<AuditTargets> {
  const { clears } = operation;
  if (clears && objectOf(input.json)?.clear === true) return toBeCleared(clears, access, input.signal);
  const address = textOf(objectOf(input.json)?.source_url);
  return {
    things:
      address === undefined ? toAuditThings(requestedIds(input), access) : [redactForBrowser(downloaded(maskedAddress(address)), access)],
  };
}

/** The ids that the service says it cleared take precedence over those listed before; so do its ids for things that had none yet. */
export function auditTargetsAfter(requested: AuditTargets, response: unknown, access: Access): AuditTargets {
  const answered = idsInResponse(response);
  const isAnswered = answered.length > 0 && (requested.things.length === 0 || requested.count !== undefined);
  return isAnswered ? { things: thingsFromResponse(requested.things, answered, access), count: answered.length } : requested;
}

/** Only a bounded number is stored: those listed before come first, then those with a name. */
function thingsFromResponse(auditThings: readonly AuditThing[], answered: readonly string[], access: Access): AuditThing[] {
  const { seenNames } = access.composition;
  const remaining = new Set(answered);
  const both = auditThings.filter(({ id }) => remaining.has(id));
  for (const { id } of both) remaining.delete(id);
  const isNamed = (id: string) => seenNames.find(access.connection.id, id) !== undefined;
  const [named, others] = [[...remaining].filter(isNamed), [...remaining].filter((id) => !isNamed(id))];
  return [...both, ...toAuditThings([...named, ...others].slice(0, MAX_THINGS), access)].slice(0, MAX_THINGS);
}

export function downloaded(source: string, fileName?: string): AuditThing {
  return { id: source, name: fileName || fileOfAddress(source) };
}

/** The newest ones, as lists name them. If they cannot be listed, the act is still done. */
async function toBeCleared(status: readonly KnownJobState[], access: Access, signal: AbortSignal | undefined): Promise<AuditTargets> {
  const query = { status, sort_by: "create_time", sort_order: "desc", offset: 0, limit: MAX_THINGS };
  const result = await callForBrowser(operations.listJobs, access, { query, signal, limits: LOOK });
  if (!result.ok) return { things: [] };
  const response = result.value.value;
  const { jobs, pagination } = response;
  const { isLast, isCut, end } = toPage(response, 0);
  return {
    things: toAuditThings(
      jobs.map(({ id }) => id),
      access,
    ),
    count: pagination.total ?? end,
    isAtLeast: pagination.total === undefined && (isCut || (!isLast && (pagination.has_more === true || end >= MAX_THINGS))),
  };
}

const MAX_LENGTH = 500;
const loggedFields = ["id", "prompt_id", "task_id", "name", "path", "code", "cleared", "created_new"] as const;
const counted = ["deleted", "added", "removed", "cancelled", "stopped", "stopping"] as const;

export function outcomeOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const parts: string[] = [];
  for (const name of loggedFields) {
    const field = fields.get(name);
    if (typeof field === "string" || typeof field === "boolean") parts.push(`${name}=${field}`);
  }
  for (const name of counted) {
    const field = fields.get(name);
    if (Array.isArray(field))
      parts.push(`${name}=${field.length}${field.length > 0 ? ` (${field.slice(0, 5).map(String).join(", ")})` : ""}`);
  }
  return parts.length === 0 ? undefined : parts.join(" ").slice(0, MAX_LENGTH);
}
