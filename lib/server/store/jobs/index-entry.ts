// Rows of the job index.

import "server-only";
import { type Kysely, sql } from "kysely";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type JobListItem, jobListItemSchema } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { getTokenName } from "../audit/audit";
import { getDialect } from "../dialect";
import { type Row, type Tables } from "../tables";
import { createEntry, createMark } from "./index-words";

const TIME_BITS = 42n;
const TIE_BITS = 5n;
const LAST_MS = 2 ** Number(TIME_BITS) - 1;

/** The lowest key of a connection's jobs at a time. */
export function firstKey(number: number, ms: number): bigint {
  const time = BigInt(Math.min(LAST_MS, Math.max(0, Math.floor(ms))));
  return (((BigInt(number) << TIME_BITS) | time) << TIE_BITS) & 0x7fff_ffff_ffff_ffffn;
}

/** The time in a key. Only this part fits into a JavaScript number. */
export const KEY_MS = sql`((key >> ${sql.lit(Number(TIE_BITS))}) & ${sql.lit(LAST_MS)})`;

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
    FROM ledger_jobs WHERE number = ${number} AND job_id IN (SELECT value FROM ${getDialect(trx).textRows(ids)})`.execute(trx);
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

/** The members who submitted these jobs, from the audit log. For jobs submitted before the job index existed. */
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
  const newestFirst = rows.sort((a, b) => b.id - a.id);
  return new Map(newestFirst.map(({ target, memberId, via }) => [target ?? "", { memberId: memberId ?? "", token: getTokenName(via) }]));
}

/** What a response reported about a job. Absent fields are unchanged. */
export type JobNote = {
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
  isAside?: boolean;
};

export function mergeNote(storedJob: StoredJob | undefined, jobNote: JobNote): StoredJob {
  const old: Partial<JobListItem> = storedJob?.item ?? {};
  const reported = Object.fromEntries(Object.entries(jobNote.item ?? {}).filter(([, value]) => value !== undefined));
  // An older response that arrived late.
  const isLate = isTerminal(old.status) && !isTerminal(jobNote.item?.status ?? old.status);
  const isNewTime = jobNote.createdMs !== undefined && (jobNote.isExact === true || !storedJob?.createdMs);
  const createdMs = (isNewTime ? jobNote.createdMs : storedJob?.createdMs) ?? 0;
  return {
    jobId: jobNote.jobId,
    // Fields are in the order of the schema. Otherwise an equal item would look changed and be rewritten at each poll.
    item: jobListItemSchema.parse({
      status: "unknown",
      ...old,
      ...(isLate ? {} : reported),
      id: jobNote.jobId,
      create_time: createdMs || undefined,
    }),
    createdMs,
    isExact: storedJob?.isExact === true || (jobNote.isExact === true && jobNote.createdMs !== undefined),
    kinds: [...new Set([...(storedJob?.kinds ?? []), ...(jobNote.kinds ?? [])])],
    memberId: storedJob?.memberId ?? jobNote.memberId,
    inputs: jobNote.inputs ?? storedJob?.inputs,
    runKey: jobNote.runKey ?? storedJob?.runKey,
  };
}

const isTerminal = (word: string | undefined) => word !== undefined && isTerminalWord(word);

/** The run key of a job whose graph is unknown. */
export function workflowKey(workflowId: string): string {
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
    runKey: state === "failed" || state === "cancelled" ? null : (runKey ?? (item.workflow_id ? workflowKey(item.workflow_id) : null)),
    runner: item.runner_id ?? null,
  };
}

export function toSearchEntry({ item, memberId, kinds, inputs = "" }: Pick<StoredJob, "item" | "memberId" | "kinds" | "inputs">): string {
  const { error } = toJobView(item);
  const marks = [
    createMark("state", toJobState(item.status)),
    ...(memberId === undefined ? [] : [createMark("member", memberId)]),
    ...(item.workflow_id === undefined ? [] : [createMark("workflow", item.workflow_id)]),
    ...kinds.map((kind) => createMark("output", kind)),
  ];
  const errorText = error && [error.nodeType, error.type, error.lateValidation?.message ?? error.message].filter(Boolean).join(": ");
  return createEntry(marks, [...(errorText ? [errorText] : []), inputs]);
}
