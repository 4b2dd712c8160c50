// Brings a database to the newest schema; the steps are imported statically, so that bundles contain them.
// One exclusive transaction: if the service and a command line start together, each step is applied once.

import { type SqliteConnection } from "@/lib/shared/database/sqlite";
import { first } from "./migrations/001-first";
import { lists } from "./migrations/002-lists";
import { downloads } from "./migrations/003-downloads";
import { userStorage } from "./migrations/005-user-storage";
import { historyClears } from "./migrations/006-history-clears";
import { endedTasks } from "./migrations/007-ended-tasks";
import { shortNames } from "./migrations/008-short-names";
import { clearedHistories } from "./migrations/009-cleared-histories";
import { cancelNotes } from "./migrations/010-cancel-notes";
import { plainLists } from "./migrations/011-plain-lists";
import { runners } from "./migrations/012-runners";
import { attemptClients } from "./migrations/013-attempt-clients";
import { blobLeases } from "./migrations/014-blob-leases";
import { postgresProcesses, processes } from "./migrations/015-processes";
import { postgresUserFiles, userFiles } from "./migrations/016-user-files";
import { postgresTaskHolders, taskHolders } from "./migrations/017-task-holders";
import { postgresSharedRuns } from "./migrations/018-shared-runs";
import { postgresClearing } from "./migrations/019-clearing";
import { postgresEndedAtOnce } from "./migrations/020-ended-at-once";
import { postgresListIndexes } from "./migrations/021-list-indexes";
import { postgresAssetIndexes } from "./postgres/asset-indexes";
import { postgresCounters } from "./postgres/counters";
import { postgresFunctions } from "./postgres/functions";
import { postgresTables } from "./postgres/tables";

/** `prepare` adds the functions that the statements call to the connection. */
type Migration = { name: string; sql: string; prepare?: (connection: SqliteConnection) => void };

export const migrations: readonly Migration[] = [
  first,
  lists,
  downloads,
  userStorage,
  historyClears,
  endedTasks,
  shortNames,
  clearedHistories,
  cancelNotes,
  plainLists,
  runners,
  attemptClients,
  blobLeases,
  processes,
  userFiles,
  taskHolders,
];

/** A PostgreSQL database begins with the tables as they were then. Later steps have a text for PostgreSQL too. */
export const postgresMigrations: readonly Pick<Migration, "name" | "sql">[] = [
  { name: "014-postgres-tables", sql: [postgresTables, postgresAssetIndexes, postgresCounters, postgresFunctions].join("\n") },
  postgresProcesses,
  postgresUserFiles,
  postgresTaskHolders,
  postgresSharedRuns,
  postgresClearing,
  postgresEndedAtOnce,
  postgresListIndexes,
];

export function migrate(connection: SqliteConnection, now: () => number): void {
  connection.exclusively(() => {
    connection.exec("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT");
    const applied = new Set(connection.prepare<[], string>("SELECT name FROM migrations").pluck().all());
    const known = new Set(migrations.map((migration) => migration.name));
    const foreign = [...applied].find((name) => !known.has(name));
    if (foreign)
      throw new Error(
        `The service's database was written by a newer version (${foreign}). Start that version, or use another data folder.`,
      );
    for (const { name, sql, prepare } of migrations) {
      if (applied.has(name)) continue;
      prepare?.(connection);
      connection.exec(sql);
      connection.prepare("INSERT INTO migrations (name, applied_at) VALUES (?, ?)").run(name, now());
    }
  });
}
