// Opens the console's database where it is PostgreSQL, and brings it to the newest schema.
// Guarantees: connections are bounded, and so is how long a statement runs; numbers are numbers and booleans 0 or 1, as SQLite gives them;
// a database that is away is a StoreAway, and a connection that broke is used no more. `pg` is loaded here alone, when it is asked for.
// Must never: put the address into a message; it holds the password.

import "server-only";
import { Kysely, Migrator, PostgresDialect, type PostgresCursor, type PostgresPool, type PostgresQueryResult, sql } from "kysely";
import { type PoolConfig } from "pg";
import { type Database } from "../database";
import { postgresMigrations } from "../migrations";
import { StoreAway } from "../store-away";
import { type Tables } from "../tables";

const OLDEST_VERSION = 150_000;
const MOST_CONNECTIONS = 10;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;
const MIGRATION_MS = 60 * 60_000;

export function openPostgres(url: string): Database {
  return open(url, { max: MOST_CONNECTIONS }, STATEMENT_MS);
}

/** Throws when a migration fails: a console on half a schema must not start. Several at once wait for each other. */
export async function migratePostgres(url: string): Promise<void> {
  const database = open(url, { max: 1 }, MIGRATION_MS);
  try {
    const { rows } = await sql<{ number: number; name: string }>`
      SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name`.execute(database);
    const [version] = rows;
    if (!version || version.number < OLDEST_VERSION)
      throw new Error(`DATABASE_URL leads to PostgreSQL ${version?.name}: Lightdesk needs PostgreSQL 15 or later.`);
    const migrator = new Migrator({ db: database, provider: { getMigrations: () => Promise.resolve(postgresMigrations) } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    await compareTextsByBytes(database);
  } catch (error) {
    throw asStartFailure(error);
  } finally {
    await database.destroy();
  }
}

/** As SQLite does: texts that later migrations have added are compared in the language of the database until then. Others' tables stay. */
async function compareTextsByBytes(database: Database): Promise<void> {
  await sql`
    DO $$ DECLARE found record; BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('lightdesk texts', 0));
      FOR found IN SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
          AND table_name IN (SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tableowner = current_user)
      LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', found.table_name, found.column_name);
      END LOOP;
    END $$`.execute(database);
}

function open(url: string, size: Pick<PoolConfig, "max">, statementMs: number): Database {
  const config: PoolConfig = {
    ...size,
    connectionString: url,
    application_name: "lightdesk",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    statement_timeout: statementMs,
    // By this process' own clock, for a server that says nothing any more.
    query_timeout: statementMs + CONNECT_MS,
    idle_in_transaction_session_timeout: statementMs,
    types: { getTypeParser },
  };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: () => openPool(config) }) });
}

async function openPool(config: PoolConfig): Promise<PostgresPool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool(config);
  // A connection that breaks: whoever uses it hears so from the query, and who needs one gets another. Unheard, it would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw asTold(error);
      });
      let isBroken = false;
      function query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
      function query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
      function query(text: string | PostgresCursor<unknown>, parameters: readonly unknown[] = []): unknown {
        if (typeof text !== "string") throw new Error("the console reads no cursor");
        return client.query(text, parameters.map(storable)).catch((error: unknown) => {
          const told = asTold(error);
          isBroken ||= told instanceof StoreAway;
          throw told;
        });
      }
      return { query, release: () => client.release(isBroken) };
    },
  };
}

/** PostgreSQL takes every character but this one. */
function storable(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(storable) : value;
}

const INT8 = 20;
const NUMERIC = 1700;
const BOOL = 16;
const FLOAT8 = 701;
const wholeNumbers = new Set([21, 23, 26]);

function getTypeParser(oid: number): (text: string) => unknown {
  if (oid === INT8) return (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));
  if (oid === BOOL) return (text) => (text === "t" ? 1 : 0);
  return oid === NUMERIC || oid === FLOAT8 || wholeNumbers.has(oid) ? Number : String;
}

/** Connections that are refused, or end: by the server, on the way, or since there are too many; statements that take too long. */
const awayCode = /^(08...|57P0.|57014|53300|25006|25P03|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN))$/;
const awayMessage = /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying|Query read timeout)/;

function asTold(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === "53100") return Object.assign(new Error("the disk of the database is full", { cause: error }), { code: "ENOSPC" });
  return awayCode.test(code) || awayMessage.test(error.message)
    ? new StoreAway(`the database does not answer (${code || error.message})`, { cause: error })
    : error;
}

function codeOf(error: Error): string {
  // Of a name with several addresses, where each of them failed.
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error && "code" in first ? String(first.code) : "";
}

/** For whoever reads the terminal. */
function asStartFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof StoreAway)
    return new Error(`The database that DATABASE_URL names cannot be reached: ${error.message}.`, { cause: error });
  const code = codeOf(error);
  if (code === "28P01" || code === "28000")
    return new Error("The database that DATABASE_URL names refuses its user or password.", { cause: error });
  if (code === "3D000") return new Error("The database that DATABASE_URL names does not exist: create it first.", { cause: error });
  if (code === "42501")
    return new Error(`The user of DATABASE_URL may not make what Lightdesk needs (${error.message}): let it own the database.`, {
      cause: error,
    });
  if (code === "0A000" && error.message.includes("pg_trgm"))
    return new Error("PostgreSQL lacks its own extension pg_trgm: install the package with PostgreSQL's additional modules.", {
      cause: error,
    });
  if (error.message.startsWith("corrupted migrations"))
    return new Error(
      `The database that DATABASE_URL names was written by another, probably newer version (${error.message}). Start that version, or use another database.`,
      { cause: error },
    );
  return error;
}

/** Of a statement that names a table which is not there. */
export function isNoTable(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === "42P01";
}
