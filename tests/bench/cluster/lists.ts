// Measures lists of the same jobs on both databases, each by its own idle service.
import { join } from "node:path";
import pg from "pg";
import { copyServiceStore } from "@/lib/service/index";
import { createDatabase } from "@/tests/support/postgres-server";
import { newFolder, type PortService, startService } from "../processes";
import { getTotal, jobGroups, measureGroup, takeTheSlot } from "../service/job-lists";
import { createJsonGet } from "../service/json-client";
import { seedJobs } from "../service/seed-jobs";

const REQUESTS = 200;
/** One line for each group of requests: the request, the target, SQLite, PostgreSQL. */
export async function measureListsOnBoth(postgresUrl: string, jobs: number, logProgress: (text: string) => void): Promise<string[][]> {
  const folder = newFolder();
  const first = await startService(folder);
  await first.process.stop();
  const file = join(folder, "service", "service.sqlite");
  logProgress(`  filling SQLite with ${jobs} jobs`);
  seedJobs(file, "bench", jobs);
  takeTheSlot(file);
  // SQLite runs first, as a folder whose rows were moved is refused.
  const onSqlite = await getLists(await startService(folder, {}, first.headers), logProgress);
  takeTheSlot(file);
  const database = await createDatabase(postgresUrl);
  logProgress("  copying them to PostgreSQL");
  await copyServiceStore({ file }, { url: database.url }, (message) => logProgress(`  ${message}`));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("VACUUM ANALYZE");
  await client.end();
  const onPostgres = await getLists(await startService(folder, { DATABASE_URL: database.url }, first.headers), logProgress);
  await database.drop();
  return onSqlite.map(({ name, target, figure, spread }, at) => {
    const postgresRow = onPostgres[at];
    return [name, target, `${figure} (${spread})`, `${postgresRow?.figure} (${postgresRow?.spread})`];
  });
}

async function getLists(service: PortService, logProgress: (text: string) => void) {
  const getJson = createJsonGet(service);
  const rows = [];
  for (const group of jobGroups(await getTotal(getJson, "/api/jobs?limit=1"), REQUESTS))
    rows.push(await measureGroup(getJson, group, logProgress));
  await service.process.stop();
  return rows;
}
