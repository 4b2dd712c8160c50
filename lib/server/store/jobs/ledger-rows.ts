// Rows of the ledger: their keys, and how they are read.

import "server-only";
import { type Kysely, sql } from "kysely";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type JobListItem, jobListItemSchema } from "@/lib/contract/schemas/job";
import { tokenIn } from "../audit/audit";
import { dialectOf } from "../dialect/dialect";
import { type Tables } from "../tables";

const TIME_BITS = 42n;
const TIE_BITS = 5n;
const LAST_MS = 2 ** Number(TIME_BITS) - 1;

/** The key of a connection's first job at a moment. */
export function firstKey(number: number, ms: number): bigint {
  const time = BigInt(Math.min(LAST_MS, Math.max(0, Math.floor(ms))));
  return (((BigInt(number) << TIME_BITS) | time) << TIE_BITS) & 0x7fff_ffff_ffff_ffffn;
}

/** The time in a key; only this part is small enough for a number. */
export const MS_OF_KEY = sql`((key >> ${sql.lit(Number(TIE_BITS))}) & ${sql.lit(LAST_MS)})`;

export type Known = {
  jobId: string;
  item: JobListItem;
  /** 0 if the service does not tell. */
  createdMs: number;
  isExact: boolean;
  kinds: string[];
  memberId?: string;
  inputs?: string;
};
export type KnownRow = Known & { key: bigint };

export function readItem(text: string): JobListItem {
  return jobListItemSchema.parse(parseExactJson(text));
}

type Row = {
  key: string;
  job_id: string;
  ms: number;
  is_exact: number;
  member_id: string | null;
  kinds: string;
  item: string;
  inputs: string | null;
};

export async function readKnown(trx: Kysely<Tables>, number: number, ids: readonly string[]): Promise<Map<string, KnownRow>> {
  const { rows } = await sql<Row>`
    SELECT CAST(key AS TEXT) AS key, job_id, ${MS_OF_KEY} AS ms, is_exact, member_id, kinds, item, inputs
    FROM ledger_jobs WHERE number = ${number} AND job_id IN (SELECT value FROM ${dialectOf(trx).rowsOf(ids)})`.execute(trx);
  return new Map(
    rows.map((row) => [
      row.job_id,
      {
        key: BigInt(row.key),
        jobId: row.job_id,
        item: readItem(row.item),
        createdMs: row.ms,
        isExact: row.is_exact === 1,
        kinds: row.kinds.split(",").filter(Boolean),
        memberId: row.member_id ?? undefined,
        inputs: row.inputs ?? undefined,
      },
    ]),
  );
}

export type Submitter = { memberId: string; token?: string };

/** The members who submitted these jobs, from the audit log: for jobs submitted before the ledger existed. */
export async function submittersOf(trx: Kysely<Tables>, connectionId: string, ids: readonly string[]): Promise<Map<string, Submitter>> {
  if (ids.length === 0) return new Map();
  const rows = await trx
    .selectFrom("audit")
    .select(["id", "target", "member_id", "via"])
    .where("action", "=", "submitPrompt")
    .where("connection_id", "=", connectionId)
    .where("target", "in", ids)
    .where("status", "<", 300)
    .where("member_id", "is not", null)
    .execute();
  // In order here: asked for in order, SQLite walks through every submission of the log. The oldest entry of a job counts.
  const newestFirst = rows.sort((a, b) => Number(b.id) - Number(a.id));
  return new Map(
    newestFirst.map(({ target, member_id: memberId, via }) => [target ?? "", { memberId: memberId ?? "", token: tokenIn(via) }]),
  );
}
