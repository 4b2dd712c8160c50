// Rows of the job index.

import "server-only";
import { type Kysely, sql } from "kysely";
import { isTerminalStatus, toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type JobListItem, jobListItemSchema } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { getTokenName } from "../audit/audit";
import { getDialect } from "../dialect";
import { type Row, type Tables } from "../tables";
import { createEntry, createFilterToken } from "./index-words";

const TIME_BITS = 42n;
const TIE_BITS = 5n;
const MAX_TIME_MS = 2 ** Number(TIME_BITS) - 1;

/** Returns the lowest key of a connection's jobs at a given time. */
export function getFirstKey(number: number, ms: number): bigint {
  const time = BigInt(Math.min(MAX_TIME_MS, Math.max(0, Math.floor(ms))));
  return (((BigInt(number) << TIME_BITS) | time) << TIE_BITS) & 0x7fff_ffff_ffff_ffffn;
}

/** The time in a key. Only this part fits into a JavaScript number. */
export const KEY_MS = sql`((key >> ${sql.lit(Number(TIE_BITS))}) & ${sql.lit(MAX_TIME_MS)})`;

export type StoredJob = {
  jobId: string;
  item: JobListItem;
  /** 0 if the service does not report it. */
  createdMs: number;
  isExact: boolean;
  kinds: string[];
  memberId?: string;
  inputs?: string;
  runKey?: string;
};
export type ExistingRow = StoredJob & { key: bigint };

export function readItem(text: string): JobListItem {
  return jobListItemSchema.parse(parseExactJson(text));
}

export async function readStoredJobs(trx: Kysely<Tables>, number: number, ids: readonly string[]): Promise<Map<string, ExistingRow>> {
  const { rows } = await sql<Omit<Row<"ledgerJobs">, "key"> & { key: string; ms: number }>`
    SELECT CAST(key AS TEXT) AS key, job_id, ${KEY_MS} AS ms, is_exact, member_id, kinds, item, inputs, run_key
    FROM ledger_jobs WHERE number = ${number} AND job_id IN (SELECT value FROM ${getDialect(trx).selectTextRows(ids)})`.execute(trx);
  return new Map(
    rows.map((row) => [
      row.jobId,
      {
        key: BigInt(row.key),
        jobId: row.jobId,
        item: readItem(row.item),
        createdMs: row.ms,
        isExact: row.isExact,
        kinds: row.kinds.split(",").filter(Boolean),
        memberId: row.memberId,
        inputs: row.inputs,
        runKey: row.runKey,
      },
    ]),
  );
}

type Submitter = { memberId: string; token?: string };

/** Returns the members who submitted these jobs, from the audit log. For jobs submitted before the job index existed. */
export async function findSubmitters(trx: Kysely<Tables>, connectionId: string, ids: readonly string[]): Promise<Map<string, Submitter>> {
  if (ids.length === 0) return new Map();
  const rows = await trx
    .selectFrom("audit")
    .select(["id", "target", "memberId", "via"])
    .where("action", "=", "submitPrompt")
    .where("connectionId", "=", connectionId)
    .where("target", "in", ids)
    .where("status", "<", 300)
    .where("memberId", "is not", null)
    .execute();
  // Sorted here, because with ORDER BY SQLite would scan every submission of the log. The oldest entry of a job wins.
  const sortedRows = rows.sort((a, b) => b.id - a.id);
  return new Map(sortedRows.map(({ target, memberId, via }) => [target ?? "", { memberId: memberId ?? "", token: getTokenName(via) }]));
}

/** What a response reported about a job. Absent fields are unchanged. */
export type JobUpdate = {
  jobId: string;
  item?: Partial<JobListItem>;
  /** Exact to the millisecond if `isExact`. */
  createdMs?: number;
  isExact?: boolean;
  kinds?: readonly string[];
  memberId?: string;
  token?: string;
  inputs?: string;
  runKey?: string;
  /** Ignored if the job isn't in the index yet. */
  isUpdateOnly?: boolean;
};

export function mergeJobUpdate(storedJob: StoredJob | undefined, jobUpdate: JobUpdate): StoredJob {
  const storedItem: Partial<JobListItem> = storedJob?.item ?? {};
  const reportedFields = Object.fromEntries(Object.entries(jobUpdate.item ?? {}).filter(([, value]) => value !== undefined));
  // An older response may arrive after a newer one.
  const isLate = isTerminal(storedItem.status) && !isTerminal(jobUpdate.item?.status ?? storedItem.status);
  const isNewTime = jobUpdate.createdMs !== undefined && (jobUpdate.isExact === true || !storedJob?.createdMs);
  const createdMs = (isNewTime ? jobUpdate.createdMs : storedJob?.createdMs) ?? 0;
  return {
    jobId: jobUpdate.jobId,
    // Parsing sorts the fields. Otherwise an equal item would look changed and be rewritten on each poll.
    item: jobListItemSchema.parse({
      status: "unknown",
      ...storedItem,
      ...(isLate ? {} : reportedFields),
      id: jobUpdate.jobId,
      create_time: createdMs || undefined,
    }),
    createdMs,
    isExact: storedJob?.isExact === true || (jobUpdate.isExact === true && jobUpdate.createdMs !== undefined),
    kinds: [...new Set([...(storedJob?.kinds ?? []), ...(jobUpdate.kinds ?? [])])],
    memberId: storedJob?.memberId ?? jobUpdate.memberId,
    inputs: jobUpdate.inputs ?? storedJob?.inputs,
    runKey: jobUpdate.runKey ?? storedJob?.runKey,
  };
}

const isTerminal = (status: string | undefined) => status !== undefined && isTerminalStatus(status);

/** Returns the run key of a job whose graph is unknown. */
export function toWorkflowKey(workflowId: string): string {
  return `workflow ${workflowId}`;
}

export function toRow({ item, isExact, memberId, kinds, inputs, runKey }: StoredJob) {
  const { runMs, state } = toJobView(item);
  return {
    isExact,
    memberId,
    runMs: runMs === undefined ? null : Math.round(runMs),
    kinds: kinds.join(","),
    item: writeExactJson(item),
    inputs,
    // A run that did not complete doesn't indicate the duration of others.
    runKey: state === "failed" || state === "cancelled" ? null : (runKey ?? (item.workflow_id ? toWorkflowKey(item.workflow_id) : null)),
    runner: item.runner_id ?? null,
  };
}

export function toSearchEntry({ item, memberId, kinds, inputs = "" }: Pick<StoredJob, "item" | "memberId" | "kinds" | "inputs">): string {
  const { error } = toJobView(item);
  const filterTokens = [
    createFilterToken("state", toJobState(item.status)),
    ...(memberId === undefined ? [] : [createFilterToken("member", memberId)]),
    ...(item.workflow_id === undefined ? [] : [createFilterToken("workflow", item.workflow_id)]),
    ...kinds.map((kind) => createFilterToken("output", kind)),
  ];
  const errorText = error && [error.nodeType, error.type, error.lateValidation?.message ?? error.message].filter(Boolean).join(": ");
  return createEntry(filterTokens, [...(errorText ? [errorText] : []), inputs]);
}
