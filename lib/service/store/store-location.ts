// Detects whether a data folder's rows are in its own file or in PostgreSQL. For PostgreSQL, a marker file in the folder contains the database's id.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLeftBehindMessage, findUnfinishedCopy } from "@/lib/shared/database/copy-tables";
import { isMissingTable, queryPostgres, type QueryRows, toStartupError } from "@/lib/shared/database/postgres";
import { openReadOnly } from "@/lib/shared/database/sqlite-copy";
import { writeAtomically } from "@/lib/shared/files";
import { SERVICE_SCHEMA } from "./baseline";
import { type Database, query } from "./database";

export type ServiceLocation = { file: string } | { url: string };

const STATEMENT_TIMEOUT_MS = 30_000;
const getMarkerPath = (dataDir: string) => join(dataDir, "postgresql-store");
export const getDatabasePath = (dataDir: string) => join(dataDir, "service.sqlite");

function readMarker(dataDir: string): string | undefined {
  const markerPath = getMarkerPath(dataDir);
  return existsSync(markerPath) ? readFileSync(markerPath, "utf8").trim() : undefined;
}

export async function writeMarker(dataDir: string, id: string): Promise<void> {
  await writeAtomically(getMarkerPath(dataDir), `${id}\n`);
}

export function removeMarker(dataDir: string): void {
  rmSync(getMarkerPath(dataDir), { force: true });
}

/** `isUsed` is true for any content, even shipped files only. A database contains users before it contains their files. */
type LocationContent = { isUsed: boolean; hasUsers: boolean; isUnfinished: boolean; id: string | undefined };

export async function inspectLocation(location: ServiceLocation): Promise<LocationContent> {
  if ("url" in location) {
    const target = { url: location.url, statementMs: STATEMENT_TIMEOUT_MS, schema: SERVICE_SCHEMA };
    return queryPostgres(target, (queryRows) => inspectDatabase(queryRows, findUnfinishedCopy.postgres)).catch((error: unknown) => {
      throw toStartupError(error);
    });
  }
  if (!existsSync(location.file)) return { isUsed: false, hasUsers: false, isUnfinished: false, id: undefined };
  const database = openReadOnly(location.file);
  try {
    return await inspectDatabase(async <Row>(text: string) => database.prepare<[], Row>(text).all(), findUnfinishedCopy.sqlite);
  } finally {
    database.close();
  }
}

async function inspectDatabase(queryRows: QueryRows, findUnfinished: string): Promise<LocationContent> {
  const readRows = <Row>(text: string) =>
    queryRows<Row>(text).catch((error: unknown): Row[] => {
      if (isMissingTable(error) || (error instanceof Error && error.message.startsWith("no such table"))) return [];
      throw error;
    });
  const hasUsers = (await readRows("SELECT 1 FROM users LIMIT 1")).length > 0;
  const hasFiles = (await readRows("SELECT 1 FROM blobs LIMIT 1")).length > 0;
  const isUnfinished = (await readRows(findUnfinished)).length > 0;
  return { isUsed: hasUsers || hasFiles, hasUsers, isUnfinished, id: (await readRows<{ id: string }>("SELECT id FROM store_ids"))[0]?.id };
}

export async function containsService(location: ServiceLocation): Promise<boolean> {
  return (await inspectLocation(location)).isUsed;
}

export async function isFolderOfDatabase(dataDir: string, url: string): Promise<boolean> {
  const markerId = readMarker(dataDir);
  return markerId !== undefined && markerId === (await inspectLocation({ url })).id;
}

/** Throws if rows would be lost or the folder belongs to another database. `isStart`: the database may have no id yet. */
export async function requireRows(dataDir: string, databaseUrl: string | undefined, { isStart = false } = {}): Promise<void> {
  const markerId = readMarker(dataDir);
  const file = getDatabasePath(dataDir);
  if (databaseUrl === undefined) {
    if (markerId !== undefined) throw new Error(createMovedStoreMessage(dataDir));
    return;
  }
  const databaseContent = await inspectLocation({ url: databaseUrl });
  if (markerId !== undefined) {
    if (databaseContent.id !== markerId && !(isStart && databaseContent.id === undefined))
      throw new Error(createForeignFilesMessage(dataDir));
    return;
  }
  const folderContent = await inspectLocation({ file });
  if (folderContent.isUsed && !databaseContent.hasUsers) throw new Error(createLeftBehindMessage(file));
  if (folderContent.hasUsers)
    throw new Error(
      `${file} and the database of DATABASE_URL belong to two different services, which can't be merged. To use the database, set LIGHTDESK_DATA_DIR to another folder. To use the file, start without DATABASE_URL, or with an empty database.`,
    );
}

function createMovedStoreMessage(dataDir: string): string {
  return `The rows of ${dataDir} were moved to PostgreSQL. Set DATABASE_URL to that database, or move them back: DATABASE_URL=postgres://… npm run copy-store -- --to sqlite:${dirname(dataDir)}. (${getMarkerPath(dataDir)} marks the move. Remove it only if that database was not used since.)`;
}

function createForeignFilesMessage(dataDir: string): string {
  return `${dataDir} belongs to another database than the one of DATABASE_URL. Set DATABASE_URL to its own database, or LIGHTDESK_DATA_DIR to another folder.`;
}

/** A new data folder may join a database only if blobs are in a shared store. */
export async function claimDataFolder(database: Database, dataDir: string, hasSharedBytes: boolean): Promise<void> {
  const markerId = readMarker(dataDir);
  const storedId = await findStoreId(database);
  if (markerId !== undefined && markerId === storedId) return;
  // An empty database takes its id from a folder only if the folder's first start was interrupted.
  if (markerId !== undefined && (storedId !== undefined || hasSharedBytes)) throw new Error(createForeignFilesMessage(dataDir));
  if (hasSharedBytes) return await writeMarker(dataDir, await ensureStoreId(database));
  if (storedId === undefined) {
    const newId = markerId ?? randomUUID();
    await writeMarker(dataDir, newId);
    if ((await ensureStoreId(database, newId)) === newId) return;
    removeMarker(dataDir);
  }
  throw new Error(
    `The files of the database of DATABASE_URL are in another data folder than ${dataDir}. Set LIGHTDESK_DATA_DIR to that folder. To share the database between processes, copy the files to a shared store (npm run copy-blobs) and set LIGHTDESK_BLOBS.`,
  );
}

async function findStoreId(database: Pick<Database, "row">): Promise<string | undefined> {
  return (await database.row(query.selectFrom("store_ids").select("id")))?.id;
}

/** Returns the id that all copies of a database share. If there is none, stores `newId`. */
export async function ensureStoreId(database: Database, newId: string = randomUUID()): Promise<string> {
  return database.commit(async (tx) => {
    const storedId = await findStoreId(tx);
    if (storedId !== undefined) return storedId;
    await tx.run(query.insertInto("store_ids").values({ id: newId }));
    return newId;
  });
}
