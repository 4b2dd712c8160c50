// Connections to PostgreSQL. Outages throw StoreUnavailableError. Messages never contain the URL, because it contains the password.

import { type PostgresCursor, type PostgresPool, type PostgresQueryResult } from "kysely";
import { type PoolConfig } from "pg";
import { StoreUnavailableError } from "../error-codes";
import { toStorableText } from "../text";

const MIN_VERSION = 150_000;
const CONNECT_TIMEOUT_MS = 5_000;

export type PostgresLocation = {
  url: string;
  max: number;
  statementMs: number;
  schema?: string;
  /** Returns whole numbers beyond 2^53 as the nearest double, as SQLite does. Otherwise, they are bigints. */
  shouldRoundIntegers?: boolean;
};

export function createPoolConfig(max: number, statementMs: number, connectMs = CONNECT_TIMEOUT_MS): PoolConfig {
  return {
    max,
    application_name: "lightdesk",
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    statement_timeout: statementMs,
    query_timeout: statementMs + connectMs,
    idle_in_transaction_session_timeout: statementMs,
  };
}

export async function openPool({ url, max, statementMs, schema, shouldRoundIntegers = false }: PostgresLocation): Promise<PostgresPool> {
  const config: PoolConfig = {
    ...createPoolConfig(max, statementMs),
    connectionString: schema === undefined ? url : addSchema(url, schema),
    types: { getTypeParser: (oid: number) => (shouldRoundIntegers && oid === INT8 ? Number : getTypeParser(oid)) },
  };
  const { default: pg } = await import("pg");
  const pool = new pg.Pool(config);
  // The query in use reports the error. Without a listener, the event would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw toStoreError(error);
      });
      let isBroken = false;
      function query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
      function query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
      function query(text: string | PostgresCursor<unknown>, parameters: readonly unknown[] = []): unknown {
        if (typeof text !== "string") throw new Error("cursors are not supported");
        return client.query(text, parameters.map(toStorableText)).catch((error: unknown) => {
          const storeError = toStoreError(error);
          isBroken ||= storeError instanceof StoreUnavailableError;
          throw storeError;
        });
      }
      return { query, release: () => client.release(isBroken) };
    },
  };
}

export type QueryRows = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

export async function queryPostgres<T>(location: Omit<PostgresLocation, "max">, work: (queryRows: QueryRows) => Promise<T>): Promise<T> {
  const pool = await openPool({ ...location, max: 1 });
  try {
    return await work(async <Row>(text: string, values: readonly unknown[] = []) => {
      const client = await pool.connect();
      try {
        return (await client.query<Row>(text, values)).rows;
      } finally {
        client.release();
      }
    });
  } finally {
    await pool.end();
  }
}

/** Extends an existing parameter, because only the last of several takes effect. */
function addSchema(url: string, schema: string): string {
  const [address = "", ...queryParts] = url.split("?");
  const params = new URLSearchParams(queryParts.join("?"));
  params.set("options", `${params.get("options") ?? ""} -c search_path=${schema}`.trim());
  return `${address}?${params.toString()}`;
}

const INT8 = 20;
const NUMERIC = 1700;
const BOOL = 16;
const FLOAT8 = 701;
const integerTypes = new Set([21, 23, 26]);

function getTypeParser(oid: number): (text: string) => unknown {
  if (oid === INT8) return (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));
  if (oid === BOOL) return (text) => (text === "t" ? 1 : 0);
  return oid === NUMERIC || oid === FLOAT8 || integerTypes.has(oid) ? Number : String;
}

/** Refused and ended connections (by the server, on the network, or because there are too many), and statements that time out. */
const unavailableCodePattern =
  /^(08...|57P0.|57014|53300|25006|25P03|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN))$/;
const unavailableMessagePattern =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying|Query read timeout)/;

export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = getCode(error);
  if (code === "53100") return Object.assign(new Error("the database disk is full", { cause: error }), { code: "ENOSPC" });
  return unavailableCodePattern.test(code) || unavailableMessagePattern.test(error.message)
    ? new StoreUnavailableError(`the database does not respond (${code || error.message})`, { cause: error })
    : error;
}

function getCode(error: Error): string {
  const [firstError] = error instanceof AggregateError ? error.errors : [error];
  return firstError instanceof Error && "code" in firstError ? String(firstError.code) : "";
}

export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && getCode(error) === "42P01";
}

export async function requireSupportedVersion(
  runQuery: (text: string) => Promise<{ rows: readonly { number: number; name: string }[] }>,
): Promise<void> {
  const { rows } = await runQuery(
    "SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name",
  );
  for (const { number, name } of rows)
    if (number < MIN_VERSION) throw new Error(`DATABASE_URL must point to PostgreSQL 15 or later (got ${name}).`);
}

export function toStartupError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof StoreUnavailableError)
    return new Error(`Can't reach the database of DATABASE_URL: ${error.message}.`, { cause: error });
  const code = getCode(error);
  if (code === "28P01" || code === "28000")
    return new Error("The database of DATABASE_URL rejected the user or password.", { cause: error });
  if (code === "3D000") return new Error("The database of DATABASE_URL does not exist. Create it first.", { cause: error });
  if (code === "42501")
    return new Error(`The user of DATABASE_URL lacks privileges (${error.message}). Make it the owner of the database.`, {
      cause: error,
    });
  if (code === "0A000" && error.message.includes("pg_trgm"))
    return new Error("PostgreSQL lacks the extension pg_trgm. Install the postgresql-contrib package.", {
      cause: error,
    });
  return error;
}
