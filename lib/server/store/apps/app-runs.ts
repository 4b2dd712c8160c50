// Runs of apps, stored before anything is sent: one run per member, app and key. Limits hold across restarts and processes.

import "server-only";
import { type Kysely, sql } from "kysely";
import { type AppRunError, type AppRunState, type AppValues } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type OutputView } from "@/lib/contract/views/outputs-view";
import { type Database, hasEffect } from "../database";
import { dialectOf } from "../dialect";
import { type Row, type Tables } from "../tables";
import { parseStoredJson } from "./apps";

const RUNS_READ = 20;
/** Runs in these states were never sent: they don't count towards limits, and their key may be reused. */
const notSent = ["unsent", "refused"] as const satisfies readonly AppRunState[];
export const isNotSent = ({ state }: { state: AppRunState }): boolean => notSent.some((value) => value === state);
export const RUNS_KEPT_MS = 90 * 24 * 60 * 60_000;
/** Long enough for clients that still poll a rejected run. */
const REFUSED_KEPT_MS = 60 * 60_000;
export const movingStates = ["sending", "pending", "in_progress"] as const satisfies readonly AppRunState[];

/** `number`: the result's number in addresses, given when it arrived. */
export type StoredResult = Pick<OutputView, "kind" | "name" | "file" | "text"> & { label: string; number?: number };
export type StoredRun = Omit<Row<"appRuns">, "runKey" | "inputs" | "error" | "errorFacts" | "results"> & {
  inputs: AppValues;
  error: AppRunError | undefined;
  results: StoredResult[] | undefined;
};
export type NewRun = Pick<StoredRun, "id" | "appId" | "memberId" | "version" | "contentHash" | "inputs" | "createdAt"> & {
  key: string | undefined;
};
type Limits = { runsPerDay: number | undefined; atOnce: number | undefined; dayBegan: number };
type Change = Partial<Pick<StoredRun, "inputs" | "jobId" | "state" | "endedAt" | "error" | "results">>;

export function createAppRunStore(database: Database) {
  const ofMember = (appId: string, memberId: string) =>
    database.selectFrom("appRuns").selectAll().where("appId", "=", appId).where("memberId", "=", memberId);
  const isWithin = ({ id, appId, memberId }: Pick<NewRun, "id" | "appId" | "memberId">, { runsPerDay, atOnce, dayBegan }: Limits) => {
    const builder = sql`(SELECT count(*) FROM app_runs WHERE app_id = ${appId} AND member_id = ${memberId} AND id <> ${id}`;
    return sql`(${runsPerDay ?? -1} < 0 OR ${builder} AND created_at >= ${dayBegan} AND state NOT IN (${sql.join(notSent)})) < ${runsPerDay ?? 0})
          AND (${atOnce ?? -1} < 0 OR ${builder} AND state IN (${sql.join(movingStates)})) < ${atOnce ?? 0})`;
  };

  const alone = (
    { appId, memberId }: Pick<NewRun, "appId" | "memberId">,
    work: (trx: Kysely<Tables>) => Promise<{ numAffectedRows?: bigint }>,
  ) => dialectOf(database).runExclusive(database, `runs ${appId} ${memberId}`, async (trx) => (await work(trx)).numAffectedRows === 1n);

  return {
    /** False if the run is already under way, or a limit is reached. */
    async begin(run: NewRun, limits: Limits): Promise<boolean> {
      const { id, appId, memberId } = run;
      await database
        .deleteFrom("appRuns")
        .where("appId", "=", appId)
        .where("memberId", "=", memberId)
        .where((where) =>
          where.or([
            where("createdAt", "<", run.createdAt - RUNS_KEPT_MS),
            where.and([where("createdAt", "<", run.createdAt - REFUSED_KEPT_MS), where("state", "=", "refused")]),
          ]),
        )
        .execute();
      return alone(run, async (trx) => {
        // A run that was never sent is restarted with the current time.
        await sql`DELETE FROM app_runs WHERE id = ${id} AND state IN (${sql.join(notSent)}) AND ${isWithin(run, limits)}`.execute(trx);
        return sql`
          INSERT INTO app_runs (id, app_id, member_id, version, run_key, content_hash, inputs, state, created_at)
          SELECT ${id}, ${appId}, ${memberId}, ${run.version}, ${run.key ?? null}, ${run.contentHash}, ${writeExactJson(run.inputs)},
            'sending', ${run.createdAt}
          WHERE ${isWithin(run, limits)}
          ON CONFLICT DO NOTHING`.execute(trx);
      });
    },

    async findByKey(appId: string, memberId: string, key: string): Promise<StoredRun | undefined> {
      const row = await ofMember(appId, memberId).where("runKey", "=", key).executeTakeFirst();
      return row && toRun(row);
    },

    async find(appId: string, memberId: string, id: string): Promise<StoredRun | undefined> {
      const row = await ofMember(appId, memberId).where("id", "=", id).executeTakeFirst();
      return row && toRun(row);
    },

    /** Newest first, without rejected runs, which never started. */
    async list(appId: string, memberId: string, { limit, before }: { limit: number; before?: [number, string] }): Promise<StoredRun[]> {
      const query = ofMember(appId, memberId).where("state", "<>", "refused");
      const page = before ? query.where(({ eb, refTuple, tuple }) => eb(refTuple("createdAt", "id"), "<", tuple(...before))) : query;
      const rows = await page.orderBy("createdAt", "desc").orderBy("id", "desc").limit(limit).execute();
      return rows.map(toRun);
    },

    /**
     * Results of the member's runs of a connection's apps, newest first, from runs whose results contain this piece of JSON. Read page by
     * page on demand, because results may be long.
     */
    async *findResults(connectionId: string, memberId: string, jsonPiece: string): AsyncGenerator<StoredResult> {
      const pattern = `%${jsonPiece.replace(/[%_\\]/g, "\\$&")}%`;
      const newest = database
        .selectFrom("appRuns")
        .innerJoin("apps", "apps.id", "appRuns.appId")
        .select(["appRuns.id", "createdAt", "results"])
        .where("apps.connectionId", "=", connectionId)
        .where("memberId", "=", memberId)
        .where(sql<boolean>`results LIKE ${pattern} ESCAPE '\\'`)
        .orderBy("createdAt", "desc")
        .orderBy("appRuns.id", "desc")
        .limit(RUNS_READ);
      let rows = await newest.execute();
      for (;;) {
        for (const { results } of rows) yield* parseStoredJson<StoredResult[]>(results ?? "[]");
        const last = rows.at(-1);
        if (!last || rows.length < RUNS_READ) return;
        rows = await newest
          .where(({ eb, refTuple, tuple }) => eb(refTuple("createdAt", "appRuns.id"), "<", tuple(last.createdAt, last.id)))
          .execute();
      }
    },

    async moving(appId: string, memberId: string): Promise<StoredRun[]> {
      const rows = await ofMember(appId, memberId).where("state", "in", movingStates).orderBy("createdAt").limit(1000).execute();
      return rows.map(toRun);
    },

    /** `seen`: nothing is written if the run has changed since. */
    async set(id: string, set: Change, seen?: Pick<StoredRun, "state" | "createdAt" | "jobId">): Promise<boolean> {
      const query = database
        .updateTable("appRuns")
        .set({
          ...set,
          inputs: set.inputs && writeExactJson(set.inputs),
          error: set.error?.message,
          errorFacts: set.error && writeExactJson({ ...set.error, message: undefined }),
          results: set.results && writeExactJson(set.results),
        })
        .where("id", "=", id);
      const asSeen =
        seen &&
        query
          .where("state", "=", seen.state)
          .where("createdAt", "=", seen.createdAt)
          .where((where) => (seen.jobId === undefined ? where("jobId", "is", null) : where("jobId", "=", seen.jobId)));
      return hasEffect(asSeen ?? query);
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
