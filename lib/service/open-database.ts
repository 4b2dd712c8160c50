// Opens the service's database. Rejects an empty database if the folder has users' files, because the sweep would remove them.

import { type Folders } from "./assets/folders";
import { type AssetSearch, createPostgresSearch } from "./assets/search/asset-search";
import { createSqliteSearch } from "./assets/search/sqlite-search";
import { createNoPeerEvents, type PeerEvents } from "./events/job-events";
import { createPostgresPeerEvents, removeOldNotices } from "./events/postgres-peer-events";
import { type Chore } from "./housekeeping";
import { type CreateQueue } from "./jobs/queue/job-queue";
import { createMemoryQueue } from "./jobs/queue/memory-queue";
import { openSharedQueue, type SharedQueue } from "./jobs/queue/postgres-queue";
import { type ServiceLog } from "./options";
import { type ServiceSettings } from "./settings";
import { requireDatabase, requireNoFiles } from "./store/data-folder";
import { type Database, query } from "./store/database";
import { openPostgres } from "./store/postgres/database";
import { createPostgresProcesses } from "./store/postgres/processes";
import { createOnlyProcess, type Processes } from "./store/processes";
import { openDatabase } from "./store/sqlite";
import { claimDataFolder, requireRows } from "./store/store-location";

export type OpenedDatabase = {
  database: Database;
  assetSearch: AssetSearch;
  processes: Processes;
  createQueue: CreateQueue;
  close(): Promise<void>;
  elsewhere: PeerEvents;
  chores: readonly Chore[];
};
type Parts = { folders: Folders; settings: ServiceSettings; now: () => number; log: ServiceLog };

export async function openServiceDatabase(
  databaseUrl: string | undefined,
  { folders, settings, now, log }: Parts,
): Promise<OpenedDatabase> {
  await requireRows(folders.root, databaseUrl, { isStart: true });
  if (databaseUrl === undefined) {
    requireDatabase(folders);
    const database = await openDatabase(folders.database, now, settings);
    const assetSearch = createSqliteSearch(database);
    const single = { processes: createOnlyProcess(), elsewhere: createNoPeerEvents() };
    return { database, assetSearch, ...single, createQueue: createMemoryQueue, chores: [], close: () => database.close() };
  }
  const database = await openPostgres(databaseUrl, now, settings);
  const processes = createPostgresProcesses(database, databaseUrl, log);
  let queue: SharedQueue | undefined;
  const close = async () => {
    await processes.close();
    await queue?.close();
    await database.close();
  };
  try {
    const isEmpty = (await database.row(query.selectFrom("blobs").select("hash").limit(1))) === undefined;
    if (isEmpty) requireNoFiles(folders.blobs, "The service's database knows no file");
    await claimDataFolder(database, folders.root, settings.blobs !== undefined);
    queue = await openSharedQueue(databaseUrl, processes, log);
    const elsewhere = createPostgresPeerEvents(database, processes, log);
    const chores: Chore[] = [{ name: "long notices", everyMs: 60_000, isShared: true, round: () => removeOldNotices(database) }];
    const assetSearch = createPostgresSearch(database);
    return { database, assetSearch, processes, elsewhere, createQueue: queue.create, chores, close };
  } catch (error) {
    await close();
    throw error;
  }
}
