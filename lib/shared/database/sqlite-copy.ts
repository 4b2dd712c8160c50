// Copies a SQLite database online into a single file that only its owner can read, and checks its integrity.

import { rm, writeFile } from "node:fs/promises";
import { getErrorCode, isFullDisk } from "../error-codes";
import { type Content, hashFile } from "../files";
import { SqliteConnection } from "./sqlite";

export function openReadOnly(file: string): SqliteConnection {
  return new SqliteConnection(file, { readOnly: true });
}

export async function copyDatabase(sourceFile: string, targetFile: string): Promise<Content> {
  await rm(targetFile, { force: true });
  await writeFile(targetFile, "", { mode: 0o600 });
  try {
    await copySnapshot(sourceFile, targetFile);
  } catch (error) {
    await rm(targetFile, { force: true });
    const code = String(getErrorCode(error));
    if (!(error instanceof Error) || !code.startsWith("SQLITE_") || isFullDisk(error)) throw error;
    const reason = code.startsWith("SQLITE_BUSY")
      ? "is locked by a process that started on a full disk. Free space there and restart it"
      : `cannot be read: ${error.message}`;
    throw new Error(`The database ${sourceFile} ${reason}.`, { cause: error });
  }
  return hashFile(targetFile);
}

async function copySnapshot(sourceFile: string, targetFile: string): Promise<void> {
  const source = openReadOnly(sourceFile);
  try {
    // A single read transaction, because each commit of another connection would restart the copy.
    source.exec("BEGIN");
    source.prepare("SELECT count(*) FROM sqlite_master").get();
    await source.backup(targetFile);
  } finally {
    source.close();
  }
  removeWal(targetFile, sourceFile);
}

export async function fillDatabase(file: string, fill: () => Promise<void>): Promise<Content> {
  try {
    // Create the file first, because SQLite would create one that others may read.
    await writeFile(file, "", { mode: 0o600, flag: "a" });
    await fill();
    removeWal(file, file);
    return await hashFile(file);
  } catch (error) {
    for (const suffix of ["", "-wal", "-shm", "-journal"]) await rm(file + suffix, { force: true });
    throw error;
  }
}

function removeWal(file: string, sourceFile: string): void {
  const copy = new SqliteConnection(file);
  try {
    copy.pragma("journal_mode = DELETE");
    requireIntegrity(copy, sourceFile);
  } finally {
    copy.close();
  }
}

export function requireIntegrity(database: SqliteConnection, file: string): void {
  const report = String(database.pragma("integrity_check(1)"));
  if (report !== "ok") throw new Error(`The database ${file} is damaged (${report}).`);
}

export function listMigrations(database: SqliteConnection, table: "kysely_migration" | "migrations"): string[] {
  return database.prepare<[], string>(`SELECT name FROM ${table} ORDER BY name`).pluck().all();
}

export function countRows<Table extends string>(database: SqliteConnection, tables: readonly Table[]): Record<string, number> {
  return Object.fromEntries(
    tables.map((table) => [table, database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0]),
  );
}
