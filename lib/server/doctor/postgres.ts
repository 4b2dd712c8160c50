// Checks the database of DATABASE_URL: version, connections, clock, lock waits and schemas. Never writes.

import "server-only";
import { serviceDatabaseSchema, servicePostgresHistory } from "@/lib/service/index";
import { findUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { type History, schemaState, tooOld } from "@/lib/shared/database/migrate";
import { type Ask, askPostgres, asStartFailure, isNoTable, requireVersion } from "@/lib/shared/database/postgres";
import { postgresHistory } from "../store/migrations";
import { attempt, type Finding, noted, passed, wrong } from "./findings";

const STATEMENT_MS = 10_000;
/** The most that a console and its service open. */
const CONNECTIONS_OF_ONE = 27;
const LONG_WAIT_SECONDS = 10;

const unreachable = "Start PostgreSQL, or set DATABASE_URL to where it is.";

/** `time`: the server's clock in ms; undefined if it was not reached. `longWaitSeconds`: a longer wait for a lock is reported. */
export async function lookAtServer(url: string, longWaitSeconds = LONG_WAIT_SECONDS): Promise<{ findings: Finding[]; time?: number }> {
  return askPostgres({ url, statementMs: STATEMENT_MS }, async (ask) => {
    const server = await attempt("database server", () => checkServer(ask), unreachable);
    if (server.state === "failed") return { findings: [server] };
    const [clock] = await ask<{ time: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time");
    return { findings: [server, await attempt("database locks", () => checkLocks(ask, longWaitSeconds))], time: clock?.time };
  });
}

type Schema = { check: string; name?: string; history: History; newest: string };

const ofConsole: Schema = {
  check: "console database",
  history: postgresHistory,
  newest: "SELECT max(at) AS at FROM audit",
};
const ofService: Schema = {
  check: "service database",
  name: serviceDatabaseSchema,
  history: servicePostgresHistory,
  newest: "SELECT max(update_time) AS at FROM jobs",
};

export const lookAtConsole = (url: string) => lookAtSchema(url, ofConsole);
export const lookAtService = (url: string) => lookAtSchema(url, ofService);

/** `newest`: when the newest row was written, in ms. */
async function lookAtSchema(url: string, schema: Schema): Promise<{ finding: Finding; newest?: number }> {
  return askPostgres({ url, statementMs: STATEMENT_MS, schema: schema.name }, async (ask) => {
    const finding = await attempt(schema.check, () => checkSchema(ask, schema), unreachable);
    if (finding.state === "failed") return { finding };
    const [row] = await orNone(ask<{ at: number | null }>(schema.newest));
    return { finding, newest: row?.at ?? undefined };
  });
}

/** The id of the service's database, which the place of its bytes carries too. */
export async function readIdOn(url: string): Promise<string | undefined> {
  return askPostgres(
    { url, statementMs: STATEMENT_MS, schema: ofService.name },
    async (ask) => (await orNone(ask<{ id: string }>("SELECT id FROM store_ids")))[0]?.id,
  );
}

async function checkServer(ask: Ask): Promise<Finding> {
  const check = "database server";
  try {
    await requireVersion(async (text) => ({ rows: await ask(text) }));
  } catch (error) {
    throw asStartFailure(error);
  }
  const [found] = await ask<{ version: string; most: number; used: number }>(`
    SELECT current_setting('server_version') AS version,
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS most,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`);
  if (!found) throw new Error("the database says nothing of itself");
  const { version, most, used } = found;
  const text = `PostgreSQL ${version}; ${used} of its ${most} connections are in use.`;
  if (most - used >= CONNECTIONS_OF_ONE) return passed(check, text);
  return noted(
    check,
    text,
    `A console with its service opens ${CONNECTIONS_OF_ONE} at most: raise max_connections there, or stop what holds the others.`,
  );
}

async function checkSchema(ask: Ask, { check, history }: Schema): Promise<Finding> {
  if ((await ask(findUnfinishedCopy.postgres)).length > 0) return wrong(check, UNFINISHED_COPY, "Run it again.");
  const rows = await orNone(ask<{ name: string }>(`SELECT name FROM ${history.table}`));
  if (rows.length === 0) return noted(check, "It is on PostgreSQL and has no tables yet; the first start makes them.");
  const state = schemaState(
    rows.map(({ name }) => name),
    history,
  );
  if ("newer" in state)
    return wrong(
      check,
      `It is on PostgreSQL and was written by a newer version (${state.newer}).`,
      "Start that version, or restore an older backup.",
    );
  if ("isTooOld" in state) return wrong(check, "It is on PostgreSQL and from a version before 0.2.0.", tooOld("The database"));
  const missing = state.missing.length;
  return missing === 0
    ? passed(check, "It is on PostgreSQL and of this version.")
    : noted(
        check,
        `It is on PostgreSQL and of an older version: ${missing} steps behind.`,
        "Make a backup; the next start brings it up to date.",
      );
}

/** Names the process id of the session that others wait for. */
async function checkLocks(ask: Ask, seconds: number): Promise<Finding> {
  const check = "database locks";
  const waiting = await ask<{ holders: string; seconds: number }>(`
    SELECT array_to_string(pg_blocking_pids(pid), ', ') AS holders, extract(epoch FROM clock_timestamp() - query_start)::integer AS seconds
    FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query_start < clock_timestamp() - interval '${seconds} seconds' ORDER BY query_start`);
  const [longest] = waiting;
  if (!longest) return passed(check, `No statement has waited for a lock for ${seconds} seconds.`);
  return wrong(
    check,
    `Statements that wait for a lock: ${waiting.length}, the longest for ${longest.seconds} seconds; process ${longest.holders} of the database holds it.`,
    "See in pg_stat_activity what that process does, and end it there (pg_terminate_backend).",
  );
}

/** No rows if there is no such table. */
async function orNone<Row>(rows: Promise<Row[]>): Promise<Row[]> {
  return rows.catch((error: unknown) => {
    if (isNoTable(error)) return [];
    throw error;
  });
}
