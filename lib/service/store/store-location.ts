// Whether a data folder's rows are in its own file or in PostgreSQL. In the second case, a file in the folder contains the database's id.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { findUnfinishedCopy, leftBehindMessage } from "@/lib/shared/database/copy-tables";
import { isMissingTable, queryPostgres, type QueryRows, toStartFailure } from "@/lib/shared/database/postgres";
import { openReadOnly } from "@/lib/shared/database/sqlite-copy";
import { writeAtomically } from "@/lib/shared/files";
import { SERVICE_SCHEMA } from "./baseline";
import { type Database, query } from "./database";

export type ServiceLocation = { file: string } | { url: string };

const STATEMENT_MS = 30_000;
const getMarkPath = (dataDir: string) => join(dataDir, "postgresql-store");
export const getDatabasePath = (dataDir: string) => join(dataDir, "service.sqlite");

function readMark(dataDir: string): string | undefined {
  const mark = getMarkPath(dataDir);
  return existsSync(mark) ? readFileSync(mark, "utf8").trim() : undefined;
}

export async function writeMark(dataDir: string, id: string): Promise<void> {
  await writeAtomically(getMarkPath(dataDir), `${id}\n`);
}

export function removeMark(dataDir: string): void {
  rmSync(getMarkPath(dataDir), { force: true });
}

/** `isUsed`: it has any content, even if only shipped files. A database has users before it has any of their files. */
type LocationContent = { isUsed: boolean; hasUsers: boolean; isUnfinished: boolean; id: string | undefined };

export async function inspectLocation(location: ServiceLocation): Promise<LocationContent> {
  if ("url" in location) {
    const target = { url: location.url, statementMs: STATEMENT_MS, schema: SERVICE_SCHEMA };
    return queryPostgres(target, (ask) => inspect(ask, findUnfinishedCopy.postgres)).catch((error: unknown) => {
      throw toStartFailure(error);
    });
  }
  if (!existsSync(location.file)) return { isUsed: false, hasUsers: false, isUnfinished: false, id: undefined };
  const database = openReadOnly(location.file);
  try {
    return await inspect(async <Row>(text: string) => database.prepare<[], Row>(text).all(), findUnfinishedCopy.sqlite);
  } finally {
    database.close();
  }
}

async function inspect(ask: QueryRows, findUnfinished: string): Promise<LocationContent> {
  const rows = <Row>(text: string) =>
    ask<Row>(text).catch((error: unknown): Row[] => {
      if (isMissingTable(error) || (error instanceof Error && error.message.startsWith("no such table"))) return [];
      throw error;
    });
  const hasUsers = (await rows("SELECT 1 FROM users LIMIT 1")).length > 0;
  const hasFiles = (await rows("SELECT 1 FROM blobs LIMIT 1")).length > 0;
  const isUnfinished = (await rows(findUnfinished)).length > 0;
  return { isUsed: hasUsers || hasFiles, hasUsers, isUnfinished, id: (await rows<{ id: string }>("SELECT id FROM store_ids"))[0]?.id };
}

export async function containsService(location: ServiceLocation): Promise<boolean> {
  return (await inspectLocation(location)).isUsed;
}

export async function isServiceOf(dataDir: string, url: string): Promise<boolean> {
  const mark = readMark(dataDir);
  return mark !== undefined && mark === (await inspectLocation({ url })).id;
}

/** Throws if rows would be lost or the folder belongs to another database. `isStart`: the database may have no id yet. */
export async function requireRows(dataDir: string, databaseUrl: string | undefined, { isStart = false } = {}): Promise<void> {
  const mark = readMark(dataDir);
  const file = getDatabasePath(dataDir);
  if (databaseUrl === undefined) {
    if (mark !== undefined) throw new Error(movedStoreMessage(dataDir));
    return;
  }
  const databaseContent = await inspectLocation({ url: databaseUrl });
  if (mark !== undefined) {
    if (databaseContent.id !== mark && !(isStart && databaseContent.id === undefined)) throw new Error(foreignFilesMessage(dataDir));
    return;
  }
  const folderContent = await inspectLocation({ file });
  if (folderContent.isUsed && !databaseContent.hasUsers) throw new Error(leftBehindMessage(file));
  if (folderContent.hasUsers)
    throw new Error(
      `${file} and the database of DATABASE_URL belong to two different services, which can't be merged. To use the database, set LIGHTDESK_DATA_DIR to another folder. To use the file, start without DATABASE_URL, or with an empty database.`,
    );
}

function movedStoreMessage(dataDir: string): string {
  return `The rows of ${dataDir} were moved to PostgreSQL. Set DATABASE_URL to that database, or move them back: DATABASE_URL=postgres://… npm run copy-store -- --to sqlite:${dirname(dataDir)}. (${getMarkPath(dataDir)} marks the move. Remove it only if that database was not used since.)`;
}

function foreignFilesMessage(dataDir: string): string {
  return `${dataDir} belongs to another database than the one of DATABASE_URL, and its files too: set DATABASE_URL to its own, or LIGHTDESK_DATA_DIR to another folder.`;
}

/** A new data folder may join a database only if blobs are stored in a shared place. */
export async function claimDataFolder(database: Database, dataDir: string, hasSharedBytes: boolean): Promise<void> {
  const mark = readMark(dataDir);
  const storedId = await findId(database);
  if (mark !== undefined && mark === storedId) return;
  // An empty database takes its id from a folder only if the folder's first start was interrupted.
  if (mark !== undefined && (storedId !== undefined || hasSharedBytes)) throw new Error(foreignFilesMessage(dataDir));
  if (hasSharedBytes) return await writeMark(dataDir, await ensureStoreId(database));
  if (storedId === undefined) {
    const newId = mark ?? randomUUID();
    await writeMark(dataDir, newId);
    if ((await ensureStoreId(database, newId)) === newId) return;
    removeMark(dataDir);
  }
  throw new Error(
    `The files of the database of DATABASE_URL are in another data folder than ${dataDir}. Set LIGHTDESK_DATA_DIR to that folder. To share the database between processes, copy the files to a shared store (npm run copy-blobs) and set LIGHTDESK_BLOBS.`,
  );
}

async function findId(database: Pick<Database, "row">): Promise<string | undefined> {
  return (await database.row(query.selectFrom("store_ids").select("id")))?.id;
}

/** The id is the same in all copies of a database. If there is none, it becomes `newId`. */
export async function ensureStoreId(database: Database, newId: string = randomUUID()): Promise<string> {
  return database.commit(async (tx) => {
    const storedId = await findId(tx);
    if (storedId !== undefined) return storedId;
    await tx.run(query.insertInto("store_ids").values({ id: newId }));
    return newId;
  });
}
