// Copies the console's store between SQLite and PostgreSQL, or into a backup.

import "server-only";
import { type Kysely, sql } from "kysely";
import { type CopyResult, copyTables, isUnfinishedCopy, type Row, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { requireCurrentSchema } from "@/lib/shared/database/migrate";
import { isMissingTable } from "@/lib/shared/database/postgres";
import { type Database, openDatabase, openPostgres } from "./database";
import { getDialect } from "./dialect";
import { readItem, toSearchEntry } from "./jobs/index-entry";
import { postgresHistory } from "./migrations";
import { type Tables } from "./tables";

type StoreCopy = { from: Database; to: Database; logProgress(progress: string): void; finishCopy?(): Promise<void> };

/** Both databases need the current schema. Rows only in the target are deleted. Sign-in limits and SQLite's word index aren't copied. */
export async function copyStore({ from, to, logProgress, finishCopy }: StoreCopy): Promise<CopyResult> {
  return copyTables({
    from: from.withoutPlugins(),
    to: to.withoutPlugins(),
    logProgress,
    isExcluded: (table) => table === "attempts" || /^(kysely_|ledger_words)/.test(table),
    afterInsert: async (trx, table, row) => {
      if (table === "ledger_jobs") await writeSearchWords(trx, row);
    },
    async beforeEnd() {
      const { rows: counts } = await sql<{ jobs: number; words: number }>`
        SELECT (SELECT count(*) FROM ledger_jobs) AS jobs, (SELECT count(*) FROM ledger_words) AS words`.execute(to);
      if (counts[0]?.jobs !== counts[0]?.words) throw new Error("The job search index is incomplete in the copy. Run the command again.");
      await finishCopy?.();
    },
  });
}

/** Throws for an unfinished copy, because a console that starts on it would lack the remaining rows. */
export async function requireFinished(database: Database): Promise<void> {
  if (await isUnfinishedCopy(database)) throw new Error(UNFINISHED_COPY);
}

export async function requireEmptyTarget(to: Database): Promise<void> {
  const existingMember = await to.selectFrom("members").select("id").limit(1).executeTakeFirst();
  if (existingMember && !(await isUnfinishedCopy(to)))
    throw new Error("The target already contains a console. Choose an empty database or folder.");
}

/** The word index is rebuilt from the copied columns. */
async function writeSearchWords(trx: Kysely<Tables>, row: Row): Promise<void> {
  const getText = (name: string) => (typeof row[name] === "string" ? row[name] : undefined);
  const kinds = (getText("kinds") ?? "").split(",").filter(Boolean);
  const body = toSearchEntry({ item: readItem(getText("item") ?? "{}"), memberId: getText("member_id"), kinds, inputs: getText("inputs") });
  await getDialect(trx).writeWords(trx, BigInt(getText("key") ?? 0), body);
}

export async function copySnapshot(url: string, file: string, logProgress: (progress: string) => void): Promise<void> {
  const source = openPostgres(url);
  const { database: target, migrate } = openDatabase(file);
  try {
    await requireCurrentVersion(source);
    await requireFinished(source);
    await migrate();
    const snapshot = source.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
    await snapshot.execute((from) => copyStore({ from, to: target, logProgress }));
  } finally {
    await Promise.all([source.destroy(), target.destroy()]);
  }
}

async function requireCurrentVersion(database: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(database).catch((error: unknown) => {
    if (isMissingTable(error)) throw new Error("The database of DATABASE_URL contains no console.", { cause: error });
    throw error;
  });
  requireCurrentSchema(
    rows.map(({ name }) => name),
    postgresHistory,
    "console's",
  );
}
