// Searches the job index of one connection by words in errors, inputs, and names of workflows and members.

import "server-only";
import { type RawBuilder, sql } from "kysely";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type JobListItem, type JobsQuery } from "@/lib/contract/schemas/job";
import { type Database } from "../database";
import { getDialect, type Term } from "../dialect";
import { getFirstKey, KEY_MS, readItem, toWorkflowKey } from "./index-entry";
import { createFilterToken, foldText, toSearchPiece } from "./index-words";
import { findConnectionNumber } from "./job-index-store";

export type IndexQuery = Pick<JobsQuery, "status" | "workflow_id" | "output_type" | "sort_by" | "sort_order" | "offset" | "limit"> & {
  words: readonly string[];
  memberId?: string;
  fromMs?: number;
  toMs?: number;
};

/** If a word occurs in more names, only the first ones are considered. */
const MAX_NAMES = 200;
const MAX_SUBMITTERS = 500;
const MAX_EXCERPT_LENGTH = 200;
/** If a page has jobs of more workflows, only the first ones get expected durations. */
const MAX_RUN_KEYS = 100;
/** Enough for a few runners. */
const MAX_RUNS_PER_KEY = 60;
const MAX_TIME_MS = Number.MAX_SAFE_INTEGER;
const QUARTER_MS = sql.lit(15 * 60_000);

type LaterRun = { jobId: string; runKey?: string; workflowId?: string };
export type EarlierRun = { runner?: string; runMs: number };

export function createIndexSearch(database: Database) {
  const { selectMatchingKeys, selectTextRows } = getDialect(database);

  /** Matches a word in a job's texts, or in the current name of its workflow or member. */
  function toWordTerm(word: string, nameLists: NameLists): Term {
    const selectMatchingNames = (names: NameLists["workflows"]) => names.filter(({ name }) => name.includes(word)).slice(0, MAX_NAMES);
    const filterTokens = [
      ...selectMatchingNames(nameLists.workflows).map(({ id }) => createFilterToken("workflow", id)),
      ...selectMatchingNames(nameLists.members).map(({ id }) => createFilterToken("member", id)),
    ];
    return [word, ...filterTokens].map(toSearchPiece);
  }

  async function listNames(connectionId: string): Promise<NameLists> {
    const [workflows, members] = await Promise.all([
      database.selectFrom("workflowNames").select(["workflowId as id", "name"]).where("connectionId", "=", connectionId).execute(),
      listSubmitters(connectionId),
    ]);
    const foldNames = (names: NameLists["workflows"]) => names.map(({ id, name }) => ({ id, name: foldText(name) }));
    return { workflows: foldNames(workflows), members: foldNames(members) };
  }

  /** Jumps from one id to the next in the index, because a connection has many jobs and few submitters. */
  async function listSubmitters(connectionId: string): Promise<{ id: string; name: string }[]> {
    const { rows } = await sql<{ id: string; name?: string }>`
      WITH RECURSIVE submitters (number, id) AS (
        SELECT number, (SELECT min(member_id) FROM ledger_jobs WHERE ledger_jobs.number = ledger_connections.number AND member_id IS NOT NULL)
        FROM ledger_connections WHERE connection_id = ${connectionId}
        UNION ALL
        SELECT number, (SELECT min(member_id) FROM ledger_jobs WHERE ledger_jobs.number = submitters.number AND member_id > submitters.id)
        FROM submitters WHERE id IS NOT NULL
      )
      SELECT submitters.id, coalesce(members.name, (SELECT member_name FROM audit WHERE member_id = submitters.id ORDER BY id DESC LIMIT 1)) AS name
      FROM submitters LEFT JOIN members ON members.id = submitters.id
      WHERE submitters.id IS NOT NULL LIMIT ${sql.lit(MAX_SUBMITTERS)}`.execute(database);
    return rows.flatMap(({ id, name }) => (name === undefined ? [] : [{ id, name }])).sort((a, b) => a.name.localeCompare(b.name));
  }

  return {
    /** Returns the beginnings of these jobs' input texts. Jobs without input texts are absent. */
    async listExcerpts(connectionId: string, jobIds: readonly string[]): Promise<Map<string, string>> {
      if (jobIds.length === 0) return new Map();
      const { rows } = await sql<{ jobId: string; text: string }>`
        SELECT job_id, substr(inputs, 1, ${sql.lit(MAX_EXCERPT_LENGTH)}) AS text FROM ledger_jobs JOIN ledger_connections USING (number)
        WHERE connection_id = ${connectionId} AND inputs <> '' AND job_id IN (SELECT value FROM ${selectTextRows(jobIds)})`.execute(
        database,
      );
      return new Map(rows.map((row) => [row.jobId, row.text]));
    },

    /**
     * Returns completed runs by job, newest first: runs with the same run key, then runs of the same workflow without a known graph.
     * Missing run keys are read from the index.
     */
    async listEarlierRuns(connectionId: string, jobs: readonly LaterRun[]): Promise<Map<string, EarlierRun[][]>> {
      const number = await findConnectionNumber(database, connectionId);
      if (number === undefined) return new Map();
      const jobIdsWithoutKey = jobs.flatMap(({ jobId, runKey }) => (runKey === undefined ? [jobId] : []));
      const runKeyQuery = sql<{ jobId: string; runKey: string }>`
        SELECT job_id, run_key FROM ledger_jobs
        WHERE number = ${number} AND run_key IS NOT NULL AND job_id IN (SELECT value FROM ${selectTextRows(jobIdsWithoutKey)})`;
      const matchingRows = jobIdsWithoutKey.length === 0 ? [] : (await runKeyQuery.execute(database)).rows;
      const storedKeys = new Map(matchingRows.map(({ jobId, runKey }) => [jobId, runKey]));
      const listRunKeys = ({ jobId, runKey = storedKeys.get(jobId), workflowId }: LaterRun) =>
        [runKey, workflowId && toWorkflowKey(workflowId)].filter((key) => !!key);
      const distinctKeys = [...new Set(jobs.flatMap(listRunKeys))].slice(0, MAX_RUN_KEYS);
      if (distinctKeys.length === 0) return new Map();
      const runQueries = distinctKeys.map(
        (key) => sql`SELECT * FROM (
          SELECT run_key, runner, run_ms FROM ledger_jobs
          WHERE number = ${number} AND run_key = ${key} AND run_ms IS NOT NULL ORDER BY key DESC LIMIT ${sql.lit(MAX_RUNS_PER_KEY)}) AS runs`,
      );
      const { rows } = await sql<EarlierRun & { runKey: string }>`${sql.join(runQueries, sql` UNION ALL `)}`.execute(database);
      const runsByKey = new Map(distinctKeys.map((key) => [key, rows.filter(({ runKey }) => runKey === key)]));
      return new Map(jobs.map((job) => [job.jobId, listRunKeys(job).map((key) => runsByKey.get(key) ?? [])]));
    },

    /** `texts` contains the jobs' input texts in the same order. */
    async search(connectionId: string, query: IndexQuery): Promise<{ jobs: JobListItem[]; texts: string[]; total: number }> {
      const number = await findConnectionNumber(database, connectionId);
      if (number === undefined) return { jobs: [], texts: [], total: 0 };
      const nameLists = query.words.length > 0 ? await listNames(connectionId) : { workflows: [], members: [] };
      const wordTerms = query.words.map((word) => toWordTerm(word, nameLists));
      const searchTerms = [...wordTerms, ...toFilterTerms(query)];
      const from = getFirstKey(number, query.fromMs ?? 0);
      const to = getFirstKey(number, query.toMs ?? MAX_TIME_MS);
      const selectKeys = (terms: readonly Term[]) =>
        terms.length === 0 ? sql`SELECT key FROM ledger_jobs WHERE key >= ${from} AND key < ${to}` : selectMatchingKeys(terms, from, to);
      const [firstWord, ...otherWords] = query.words;
      const keyQuery =
        firstWord !== undefined && otherWords.length === 0 && isIdPrefix(firstWord)
          ? sql`${selectKeys(searchTerms)} UNION SELECT key FROM (${selectKeys(toFilterTerms(query))}) AS filtered WHERE key IN (${selectByIdPrefix(number, firstWord)})`
          : selectKeys(searchTerms);
      const countResult = await sql<{ n: number }>`SELECT count(*) AS n FROM (${keyQuery}) AS found`.execute(database);
      const pageResult = await selectPage(keyQuery, query).execute(database);
      const texts = pageResult.rows.map(({ inputs }) => inputs ?? "");
      return { jobs: pageResult.rows.map(({ item }) => readItem(item)), texts, total: countResult.rows[0]?.n ?? 0 };
    },

    /** Counts jobs of a state per quarter of an hour, because time zones differ by quarters. Reads only the index. */
    async countByTime(connectionId: string, state: JobState, { fromMs, toMs }: { fromMs: number; toMs: number }) {
      const number = await findConnectionNumber(database, connectionId);
      if (number === undefined) return [];
      const { rows } = await sql<{ ms: number; count: number }>`
        SELECT ${KEY_MS} / ${QUARTER_MS} * ${QUARTER_MS} AS ms, count(*) AS count FROM (
          ${selectMatchingKeys([[createFilterToken("state", state)]], getFirstKey(number, fromMs), getFirstKey(number, toMs))}
        ) AS found GROUP BY 1`.execute(database);
      return rows;
    },

    listSubmitters,

    async hasMultipleSubmitters(connectionId: string): Promise<boolean> {
      const selectSubmitter = (end: "min" | "max") =>
        sql`(SELECT ${sql.raw(end)}(member_id) FROM ledger_jobs WHERE number = of.number AND member_id IS NOT NULL)`;
      const { rows } = await sql<{ many: unknown }>`
        SELECT ${selectSubmitter("min")} < ${selectSubmitter("max")} AS many FROM ledger_connections AS of WHERE connection_id = ${connectionId}`.execute(
        database,
      );
      return Number(rows[0]?.many) === 1;
    },
  };
}

/** Lists show the first eight characters of a job's id. */
function isIdPrefix(word: string): boolean {
  return /^[0-9a-z][0-9a-z_-]{5,199}$/.test(word);
}

function selectByIdPrefix(number: number, id: string): RawBuilder<unknown> {
  const lastCharacter = String.fromCodePoint(0xffff);
  return sql`SELECT key FROM ledger_jobs WHERE number = ${number} AND job_id >= ${id} AND job_id < ${id + lastCharacter} LIMIT ${sql.lit(MAX_NAMES)}`;
}

type NameLists = { workflows: { id: string; name: string }[]; members: { id: string; name: string }[] };

function toFilterTerms({ status, workflow_id: workflowId, output_type: outputType, memberId }: IndexQuery): Term[] {
  return [
    ...(status && status.length > 0 ? [status.map((state) => createFilterToken("state", state))] : []),
    ...(memberId === undefined ? [] : [[createFilterToken("member", memberId)]]),
    ...(workflowId === undefined ? [] : [[createFilterToken("workflow", workflowId)]]),
    ...(outputType === undefined ? [] : [[createFilterToken("output", outputType)]]),
  ];
}

type JobRow = { item: string; inputs?: string };

function selectPage(keyQuery: RawBuilder<unknown>, { sort_by: sortBy, sort_order: sortOrder, limit, offset }: IndexQuery) {
  const direction = sql.raw(sortOrder === "asc" ? "ASC" : "DESC");
  if (sortBy === "execution_time") {
    return sql<JobRow>`
      SELECT item, inputs FROM (${keyQuery}) AS found JOIN ledger_jobs USING (key)
      ORDER BY run_ms IS NULL, run_ms ${direction}, key ${direction} LIMIT ${limit} OFFSET ${offset}`;
  }
  return sql<JobRow>`
    SELECT item, inputs FROM (${keyQuery} ORDER BY key ${direction} LIMIT ${limit} OFFSET ${offset}) AS found JOIN ledger_jobs USING (key) ORDER BY key ${direction}`;
}
