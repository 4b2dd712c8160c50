// Stores app runs before submission, one per member, app and idempotency key. Limits apply across restarts and processes.

import "server-only";
import { type Kysely, sql } from "kysely";
import { type AppRunError, type AppRunState, type AppValues } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type OutputView } from "@/lib/contract/views/outputs-view";
import { type Database, hasEffect } from "../database";
import { getDialect } from "../dialect";
import { type Row, type Tables } from "../tables";
import { parseStoredJson } from "./apps";

const RUN_PAGE_SIZE = 20;
/** Runs in these states were never sent. They don't count towards limits, and their key may be reused. */
const unsentStates = ["unsent", "refused"] as const satisfies readonly AppRunState[];
export const isUnsent = ({ state }: { state: AppRunState }): boolean => unsentStates.some((value) => value === state);
export const RUN_RETENTION_MS = 90 * 24 * 60 * 60_000;
/** Long enough for clients that still poll a rejected run. */
const REFUSED_RUN_RETENTION_MS = 60 * 60_000;
export const activeRunStates = ["sending", "pending", "in_progress"] as const satisfies readonly AppRunState[];

/** `number` identifies the result in URLs. Assigned when it arrives. */
export type StoredResult = Pick<OutputView, "kind" | "name" | "file" | "text"> & { label: string; number?: number };
export type StoredRun = Omit<Row<"appRuns">, "runKey" | "inputs" | "error" | "errorFacts" | "results"> & {
  inputs: AppValues;
  error: AppRunError | undefined;
  results: StoredResult[] | undefined;
};
export type NewRun = Pick<StoredRun, "id" | "appId" | "memberId" | "version" | "contentHash" | "inputs" | "createdAt"> & {
  key: string | undefined;
};
type Limits = { runsPerDay: number | undefined; maxConcurrentRuns: number | undefined; dayStartMs: number };
type Change = Partial<Pick<StoredRun, "inputs" | "jobId" | "state" | "endedAt" | "error" | "results">>;

export function createAppRunStore(database: Database) {
  const selectMemberRuns = (appId: string, memberId: string) =>
    database.selectFrom("appRuns").selectAll().where("appId", "=", appId).where("memberId", "=", memberId);
  const buildLimitsCondition = (
    { id, appId, memberId }: Pick<NewRun, "id" | "appId" | "memberId">,
    { runsPerDay, maxConcurrentRuns, dayStartMs }: Limits,
  ) => {
    const countOtherRuns = sql`(SELECT count(*) FROM app_runs WHERE app_id = ${appId} AND member_id = ${memberId} AND id <> ${id}`;
    return sql`(${runsPerDay ?? -1} < 0 OR ${countOtherRuns} AND created_at >= ${dayStartMs} AND state NOT IN (${sql.join(unsentStates)})) < ${runsPerDay ?? 0})
          AND (${maxConcurrentRuns ?? -1} < 0 OR ${countOtherRuns} AND state IN (${sql.join(activeRunStates)})) < ${maxConcurrentRuns ?? 0})`;
  };

  const runSerialized = (
    { appId, memberId }: Pick<NewRun, "appId" | "memberId">,
    work: (trx: Kysely<Tables>) => Promise<{ numAffectedRows?: bigint }>,
  ) => getDialect(database).runExclusive(database, `runs ${appId} ${memberId}`, async (trx) => (await work(trx)).numAffectedRows === 1n);

  return {
    /** Returns false if the run has already started, or a limit is reached. */
    async start(run: NewRun, limits: Limits): Promise<boolean> {
      const { id, appId, memberId } = run;
      await database
        .deleteFrom("appRuns")
        .where("appId", "=", appId)
        .where("memberId", "=", memberId)
        .where((where) =>
          where.or([
            where("createdAt", "<", run.createdAt - RUN_RETENTION_MS),
            where.and([where("createdAt", "<", run.createdAt - REFUSED_RUN_RETENTION_MS), where("state", "=", "refused")]),
          ]),
        )
        .execute();
      return runSerialized(run, async (trx) => {
        // A run that was never sent is restarted with the current time.
        await sql`DELETE FROM app_runs WHERE id = ${id} AND state IN (${sql.join(unsentStates)}) AND ${buildLimitsCondition(run, limits)}`.execute(
          trx,
        );
        return sql`
          INSERT INTO app_runs (id, app_id, member_id, version, run_key, content_hash, inputs, state, created_at)
          SELECT ${id}, ${appId}, ${memberId}, ${run.version}, ${run.key ?? null}, ${run.contentHash}, ${writeExactJson(run.inputs)},
            'sending', ${run.createdAt}
          WHERE ${buildLimitsCondition(run, limits)}
          ON CONFLICT DO NOTHING`.execute(trx);
      });
    },

    async findByKey(appId: string, memberId: string, key: string): Promise<StoredRun | undefined> {
      const row = await selectMemberRuns(appId, memberId).where("runKey", "=", key).executeTakeFirst();
      return row && toRun(row);
    },

    async find(appId: string, memberId: string, id: string): Promise<StoredRun | undefined> {
      const row = await selectMemberRuns(appId, memberId).where("id", "=", id).executeTakeFirst();
      return row && toRun(row);
    },

    /** Newest first, without rejected runs, which never started. */
    async list(appId: string, memberId: string, { limit, before }: { limit: number; before?: [number, string] }): Promise<StoredRun[]> {
      const query = selectMemberRuns(appId, memberId).where("state", "<>", "refused");
      const page = before ? query.where(({ eb, refTuple, tuple }) => eb(refTuple("createdAt", "id"), "<", tuple(...before))) : query;
      const rows = await page.orderBy("createdAt", "desc").orderBy("id", "desc").limit(limit).execute();
      return rows.map(toRun);
    },

    /**
     * Yields the member's results on a connection, newest first, from runs whose results contain `jsonFragment`.
     * Reads page by page on demand, because results may be long.
     */
    async *findResults(connectionId: string, memberId: string, jsonFragment: string): AsyncGenerator<StoredResult> {
      const pattern = `%${jsonFragment.replace(/[%_\\]/g, "\\$&")}%`;
      const pageQuery = database
        .selectFrom("appRuns")
        .innerJoin("apps", "apps.id", "appRuns.appId")
        .select(["appRuns.id", "createdAt", "results"])
        .where("apps.connectionId", "=", connectionId)
        .where("memberId", "=", memberId)
        .where(sql<boolean>`results LIKE ${pattern} ESCAPE '\\'`)
        .orderBy("createdAt", "desc")
        .orderBy("appRuns.id", "desc")
        .limit(RUN_PAGE_SIZE);
      let rows = await pageQuery.execute();
      for (;;) {
        for (const { results } of rows) yield* parseStoredJson<StoredResult[]>(results ?? "[]");
        const lastRow = rows.at(-1);
        if (!lastRow || rows.length < RUN_PAGE_SIZE) return;
        rows = await pageQuery
          .where(({ eb, refTuple, tuple }) => eb(refTuple("createdAt", "appRuns.id"), "<", tuple(lastRow.createdAt, lastRow.id)))
          .execute();
      }
    },

    async listActive(appId: string, memberId: string): Promise<StoredRun[]> {
      const rows = await selectMemberRuns(appId, memberId).where("state", "in", activeRunStates).orderBy("createdAt").limit(1000).execute();
      return rows.map(toRun);
    },

    /** With `expectedRun`, nothing is written if the run has changed since. */
    async set(id: string, changes: Change, expectedRun?: Pick<StoredRun, "state" | "createdAt" | "jobId">): Promise<boolean> {
      const query = database
        .updateTable("appRuns")
        .set({
          ...changes,
          inputs: changes.inputs && writeExactJson(changes.inputs),
          error: changes.error?.message,
          errorFacts: changes.error && writeExactJson({ ...changes.error, message: undefined }),
          results: changes.results && writeExactJson(changes.results),
        })
        .where("id", "=", id);
      const unchangedQuery =
        expectedRun &&
        query
          .where("state", "=", expectedRun.state)
          .where("createdAt", "=", expectedRun.createdAt)
          .where((where) => (expectedRun.jobId === undefined ? where("jobId", "is", null) : where("jobId", "=", expectedRun.jobId)));
      return hasEffect(unchangedQuery ?? query);
    },
  };
}

function toRun({ runKey: _, inputs, error, errorFacts = "{}", results, ...run }: Row<"appRuns">): StoredRun {
  return {
    ...run,
    inputs: parseStoredJson<AppValues>(inputs),
    error: error === undefined ? undefined : { ...parseStoredJson<Omit<AppRunError, "message">>(errorFacts), message: error },
    results: results === undefined ? undefined : parseStoredJson<StoredResult[]>(results),
  };
}
