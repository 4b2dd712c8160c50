// Measures lists of the same jobs on SQLite and on PostgreSQL, each with its own idle service.
import { join } from "node:path";
import pg from "pg";
import { copyServiceStore } from "@/lib/service/index";
import { createDatabase } from "@/tests/support/postgres-server";
import { createTempFolder, type ServiceProcess, startService } from "../processes";
import { createJobGroups, getTotal, measureGroup, occupySlot } from "../service/job-lists";
import { createJsonGet } from "../service/json-client";
import { seedJobs } from "../service/seed-jobs";

const REQUESTS = 200;
/** Returns a row for each group of requests: the request, the target, SQLite, PostgreSQL. */
export async function measureListsOnBothDatabases(
  postgresUrl: string,
  jobs: number,
  logProgress: (text: string) => void,
): Promise<string[][]> {
  const folder = createTempFolder();
  const initialService = await startService(folder);
  await initialService.process.stop();
  const file = join(folder, "service", "service.sqlite");
  logProgress(`  filling SQLite with ${jobs} jobs`);
  seedJobs(file, "bench", jobs);
  occupySlot(file);
  // Measures SQLite first, since the service refuses a folder whose rows were moved.
  const sqliteRows = await measureLists(await startService(folder, {}, initialService.headers), logProgress);
  occupySlot(file);
  const database = await createDatabase(postgresUrl);
  logProgress("  copying them to PostgreSQL");
  await copyServiceStore({ file }, { url: database.url }, (message) => logProgress(`  ${message}`));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("VACUUM ANALYZE");
  await client.end();
  const postgresRows = await measureLists(await startService(folder, { DATABASE_URL: database.url }, initialService.headers), logProgress);
  await database.drop();
  return sqliteRows.map(({ name, target, figure, spread }, index) => {
    const postgresRow = postgresRows[index];
    return [name, target, `${figure} (${spread})`, `${postgresRow?.figure} (${postgresRow?.spread})`];
  });
}

async function measureLists(service: ServiceProcess, logProgress: (text: string) => void) {
  const getJson = createJsonGet(service);
  const rows = [];
  for (const group of createJobGroups(await getTotal(getJson, "/api/jobs?limit=1"), REQUESTS))
    rows.push(await measureGroup(getJson, group, logProgress));
  await service.process.stop();
  return rows;
}
