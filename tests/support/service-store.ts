// The service's database without a service: SQLite in its own folder, or PostgreSQL for the suites that run on it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import { SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { openDatabase } from "@/lib/service/store/sqlite";
import { createKeys } from "@/lib/service/users/keys";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { seedJobs } from "@/tests/bench/service/seed-jobs";
import { closeAfterwards } from "./close-afterwards";
import { createDatabase } from "./postgres-server";

export type TestServiceStore = Awaited<ReturnType<typeof createTestServiceStore>>;

/** A location for the database, which may be opened repeatedly. */
export async function createTestServiceStore() {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-service-store-"));
  const file = join(folder, "service.sqlite");
  const server = inject("postgres");
  const ownDatabase = server === undefined ? undefined : await createDatabase(server);
  return {
    folder,
    open: (now: () => number = Date.now): Promise<Database> => (ownDatabase ? openPostgres(ownDatabase.url, now) : openDatabase(file, now)),
    /** Creates a user with a key and many jobs, before the database is opened. */
    async seed(userName: string, jobs: number) {
      const database = await openDatabase(file, Date.now);
      await createKeys(database, Date.now).createKey(userName);
      await database.close();
      seedJobs(file, userName, jobs);
      if (ownDatabase) await copySeededRows(file, ownDatabase.url);
    },
    remove: closeAfterwards(async () => {
      await ownDatabase?.drop();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}

/** Copies seeded rows; the triggers of the new database recompute their values. */
async function copySeededRows(file: string, url: string): Promise<void> {
  await (await openPostgres(url, Date.now)).close();
  const from = new SqliteConnection(file, { readOnly: true });
  const to = new pg.Client({ connectionString: url });
  await to.connect();
  await to.query(`SET search_path = ${SERVICE_SCHEMA}`);
  for (const table of ["users", "keys", "jobs", "job_inputs", "job_results"]) {
    const rows = JSON.stringify(from.prepare(`SELECT * FROM ${table}`).all());
    await to.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [rows]);
  }
  await to.query("SELECT setval('users_id_seq', (SELECT max(id) FROM users)), setval('jobs_seq_seq', (SELECT max(seq) FROM jobs))");
  await to.end();
  from.close();
}
