// Targets and outcomes of requests for the audit log.

import "server-only";
import { getFileName, maskAddress } from "@/lib/contract/assets/file-refs";
import { type AuditTarget, getRequestedIds, getResponseIds, MAX_TARGETS, type TargetCount } from "@/lib/contract/audit/audit-items";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { asObject, asText } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type Access } from "../connections/access";
import { toPage } from "../job-index/list-reader";
import { requestRedacted } from "../responses/process-response";
import { redactForBrowser } from "../responses/redact";
import { type CallInput } from "../upstream/build-request";

export type AuditTargets = TargetCount & { targets: AuditTarget[] };

/** Short, because the operation waits for it. */
const LOOKUP_LIMITS = { exchangeMs: 5000, attempts: 1 };

export function toAuditTargets(ids: readonly string[], access: Access): AuditTarget[] {
  const { seenNames } = access.composition;
  const targets = ids.map((id) => ({ id, name: seenNames.find(access.connection.id, id) }));
  return redactForBrowser(targets, access);
}

export async function getRequestTargets(operation: Operation, access: Access, input: CallInput): Promise<AuditTargets> {
  const { clears } = operation;
  if (clears && asObject(input.json)?.clear === true) return findTargetsToClear(clears, access, input.signal);
  const sourceUrl = asText(asObject(input.json)?.source_url);
  return {
    targets:
      sourceUrl === undefined
        ? toAuditTargets(getRequestedIds(input), access)
        : [redactForBrowser(toDownloadTarget(maskAddress(sourceUrl)), access)],
  };
}

/** Ids in the response replace the targets listed before a clear. They are also used for new items. */
export function getResponseTargets(requestTargets: AuditTargets, response: unknown, access: Access): AuditTargets {
  const responseIds = getResponseIds(response);
  const hasBetterIds = responseIds.length > 0 && (requestTargets.targets.length === 0 || requestTargets.count !== undefined);
  return hasBetterIds ? { targets: mergeTargets(requestTargets.targets, responseIds, access), count: responseIds.length } : requestTargets;
}

/** The number of stored targets is limited. Targets that were already listed come first, then those with a name. */
function mergeTargets(requestTargets: readonly AuditTarget[], responseIds: readonly string[], access: Access): AuditTarget[] {
  const { seenNames } = access.composition;
  const remainingIds = new Set(responseIds);
  const confirmedTargets = requestTargets.filter(({ id }) => remainingIds.has(id));
  for (const { id } of confirmedTargets) remainingIds.delete(id);
  const isNamed = (id: string) => seenNames.find(access.connection.id, id) !== undefined;
  const [namedIds, unnamedIds] = [[...remainingIds].filter(isNamed), [...remainingIds].filter((id) => !isNamed(id))];
  return [...confirmedTargets, ...toAuditTargets([...namedIds, ...unnamedIds].slice(0, MAX_TARGETS), access)].slice(0, MAX_TARGETS);
}

export function toDownloadTarget(source: string, fileName?: string): AuditTarget {
  return { id: source, name: fileName || getFileName(source) };
}

/** Lists the newest targets. If listing fails, the operation continues. */
async function findTargetsToClear(
  statuses: readonly KnownJobState[],
  access: Access,
  signal: AbortSignal | undefined,
): Promise<AuditTargets> {
  const query = { status: statuses, sort_by: "create_time", sort_order: "desc", offset: 0, limit: MAX_TARGETS };
  const result = await requestRedacted(operations.listJobs, access, { query, signal, limits: LOOKUP_LIMITS });
  if (!result.ok) return { targets: [] };
  const response = result.value.value;
  const { jobs, pagination } = response;
  const { isLast, isTruncated, nextOffset } = toPage(response, 0);
  return {
    targets: toAuditTargets(
      jobs.map(({ id }) => id),
      access,
    ),
    count: pagination.total ?? nextOffset,
    isAtLeast: pagination.total === undefined && (isTruncated || (!isLast && (pagination.has_more === true || nextOffset >= MAX_TARGETS))),
  };
}

const MAX_OUTCOME_LENGTH = 500;
const loggedFields = ["id", "prompt_id", "task_id", "name", "path", "code", "cleared", "created_new"] as const;
const countedFields = ["deleted", "added", "removed", "cancelled", "stopped", "stopping"] as const;

export function toOutcome(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const parts: string[] = [];
  for (const name of loggedFields) {
    const field = fields.get(name);
    if (typeof field === "string" || typeof field === "boolean") parts.push(`${name}=${field}`);
  }
  for (const name of countedFields) {
    const field = fields.get(name);
    if (Array.isArray(field))
      parts.push(`${name}=${field.length}${field.length > 0 ? ` (${field.slice(0, 5).map(String).join(", ")})` : ""}`);
  }
  return parts.length === 0 ? undefined : parts.join(" ").slice(0, MAX_OUTCOME_LENGTH);
}
