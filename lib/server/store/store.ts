// The console's store: one database, with a small store for each kind of data.

import "server-only";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { type ArchiveSelection, archiveSelectionSchema } from "@/lib/contract/console";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type CopyResult, createLeftBehindMessage, isUnfinishedCopy } from "@/lib/shared/database/copy-tables";
import { isMissingTable, toStartupError } from "@/lib/shared/database/postgres";
import { openReadOnly } from "@/lib/shared/database/sqlite-copy";
import { createAppFileStore } from "./apps/app-files";
import { createAppRunStore } from "./apps/app-runs";
import { createAppStore } from "./apps/apps";
import { createAuditStore } from "./audit/audit";
import { createConnectionStore, createKeyStore, type Sealed, toSecretRecordId } from "./connections";
import { copyStore, requireEmptyTarget, requireFinished } from "./copy-store";
import { type Database, deleteBefore, migratePostgres, openDatabase, openPostgres } from "./database";
import { createDownloadTaskStore } from "./download-tasks";
import { createEmbedHostStore, createEmbedSessionStore } from "./embed";
import { createIndexSearch } from "./jobs/index-search";
import { createJobIndexStore } from "./jobs/job-index-store";
import { createJobUsageStore } from "./jobs/job-usage";
import { createJobViewerStore } from "./jobs/job-viewers";
import { createJobLabelStore, createSubmissionStore, createWorkflowNameStore } from "./jobs/submissions";
import { createLocalPeers, createPostgresPeers, type Peers } from "./peers";
import { createIdentityStore } from "./people/identities";
import { createInvitationStore } from "./people/invitations";
import { createMemberStore } from "./people/members";
import { createSessionStore } from "./people/sessions";
import { createTokenStore } from "./people/tokens";
import { createSavedViewStore } from "./saved-views";
import { createAttemptStore, createSettingStore, createSetUpTokenStore } from "./settings";
import { createShareStore } from "./shares";
import { createWebhookStore } from "./webhooks";

// Selections of assets to download as one archive, stored for an hour.
type StoredArchive = { connectionId: string; choice: ArchiveSelection };

const ARCHIVE_RETENTION_MS = 60 * 60_000;

function createArchiveStore(database: Database) {
  return {
    async save(memberId: string, { connectionId, choice }: StoredArchive, now: number): Promise<string> {
      await deleteBefore(database, "archives", "createdAt", now - ARCHIVE_RETENTION_MS);
      const id = randomUUID();
      const row = { id, memberId, connectionId, choice: writeExactJson(choice), createdAt: now };
      await database.insertInto("archives").values(row).execute();
      return id;
    },

    async find(memberId: string, id: string): Promise<StoredArchive | undefined> {
      const row = await database
        .selectFrom("archives")
        .select(["connectionId", "choice"])
        .where("id", "=", id)
        .where("memberId", "=", memberId)
        .executeTakeFirst();
      return row && { connectionId: row.connectionId, choice: archiveSelectionSchema.parse(JSON.parse(row.choice)) };
    },
  };
}

export type Store = ReturnType<typeof createStore>;

const DATABASE_FILE = "console.sqlite";
/** Marks an unfinished restore of the data folder. A console does not start while this file exists. */
export const UNFINISHED_RESTORE = "restore-unfinished";

export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE_FILE));
}

type OpenedDatabase = { database: Database; peers: Peers; migrate(): Promise<void> };

/** Opens the store in an existing folder, or in a PostgreSQL database if `url` is set. The caller must close it. */
export function openStore(dataDir: string, url?: string): Store {
  const keys = ["encryption-keys", "auth-secret", UNFINISHED_RESTORE].map((name) => join(/* turbopackIgnore: true */ dataDir, name));
  const openedDatabase = openLocation({ dataDir, url }, keys);
  return createStore(openedDatabase);
}

function openLocation({ dataDir = "", url }: StoreLocation, keys: readonly string[] = []): OpenedDatabase {
  if (url !== undefined) {
    const database = openPostgres(url);
    return { database, peers: createPostgresPeers(database, url), migrate: () => migratePostgres(url) };
  }
  const file = join(dataDir, DATABASE_FILE);
  return { ...openDatabase(file, keys), peers: createLocalPeers() };
}

export type StoreLocation = { dataDir?: string; url?: string };
/** Called before the first write. The returned function runs before the copy ends. `isResumed`: continues an interrupted copy. */
type PrepareCopy = (isResumed: boolean) => Promise<() => Promise<void>>;

/** `canOverwrite`: the target has an earlier state of the same store. */
type CopyOptions = { canOverwrite?: boolean; prepare?: PrepareCopy };

export async function copyBetween(
  from: StoreLocation,
  to: StoreLocation,
  logProgress: (progress: string) => void,
  options: CopyOptions = {},
): Promise<CopyResult> {
  const { canOverwrite = false, prepare } = options;
  const [source, target] = [openLocation(from), openLocation(to)];
  try {
    await source.migrate();
    await target.migrate();
    if (!canOverwrite) await requireEmptyTarget(target.database);
    const finishCopy = await prepare?.(await isUnfinishedCopy(target.database));
    return await copyStore({ from: source.database, to: target.database, logProgress, finishCopy });
  } finally {
    await Promise.all([source.database.destroy(), target.database.destroy()]);
  }
}

/** Throws if a store can't be copied to this database. An unfinished copy can be resumed. Creates no tables. */
export async function requireCopyTarget(url: string): Promise<void> {
  await queryIfMigrated(url, requireEmptyTarget);
}

/** True if the location contains a console. Creates no tables. */
export async function containsConsole({ dataDir, url }: StoreLocation): Promise<boolean> {
  return url === undefined ? hasStore(dataDir ?? "") : (await listDatabaseMembers(url)).size > 0;
}

/** True if the folder's console was completely moved to the database: they share a member, or the folder has none. */
export async function isMovedConsole({ dataDir = "" }: StoreLocation, { url = "" }: StoreLocation): Promise<boolean> {
  if (await queryIfMigrated(url, isUnfinishedCopy)) return false;
  const [folderMembers, databaseMembers] = [listFolderMembers(dataDir), await listDatabaseMembers(url)];
  return databaseMembers.size > 0 && (folderMembers.length === 0 || folderMembers.some((id) => databaseMembers.has(id)));
}

export async function requireConsoleRows(dataDir: string, url: string | undefined): Promise<void> {
  if (url === undefined || listFolderMembers(dataDir).length === 0 || (await containsConsole({ url }))) return;
  throw new Error(createLeftBehindMessage(join(dataDir, DATABASE_FILE)));
}

async function listDatabaseMembers(url: string): Promise<ReadonlySet<string>> {
  const rows = await queryIfMigrated(url, (database) => database.selectFrom("members").select("id").execute());
  return new Set(rows?.map(({ id }) => id));
}

function listFolderMembers(dataDir: string): string[] {
  if (!hasStore(dataDir)) return [];
  const database = openReadOnly(join(dataDir, DATABASE_FILE));
  try {
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'members'").get() !== undefined;
    return hasTable ? database.prepare<[], string>("SELECT id FROM members").pluck().all() : [];
  } finally {
    database.close();
  }
}

async function queryIfMigrated<T>(url: string, runQuery: (database: Database) => Promise<T>): Promise<T | undefined> {
  const database = openPostgres(url);
  try {
    return await runQuery(database);
  } catch (error) {
    if (!isMissingTable(error)) throw toStartupError(error);
    return undefined;
  } finally {
    await database.destroy();
  }
}

function createStore({ database, peers, migrate: migrateDatabase }: OpenedDatabase) {
  return {
    members: createMemberStore(database),
    connections: createConnectionStore(database),
    keys: createKeyStore(database),
    workflowNames: createWorkflowNameStore(database),
    submissions: createSubmissionStore(database),
    downloadTasks: createDownloadTaskStore(database),
    jobLabels: createJobLabelStore(database),
    jobUsage: createJobUsageStore(database),
    jobViewers: createJobViewerStore(database),
    jobIndexStore: { ...createJobIndexStore(database), ...createIndexSearch(database) },
    setUpToken: createSetUpTokenStore(database),
    invitations: createInvitationStore(database),
    identities: createIdentityStore(database),
    sessions: createSessionStore(database),
    sealed: createSealedColumns(database),
    settings: createSettingStore(database),
    tokens: createTokenStore(database),
    embedHosts: createEmbedHostStore(database),
    embedSessions: createEmbedSessionStore(database),
    webhooks: createWebhookStore(database),
    savedViews: createSavedViewStore(database),
    archives: createArchiveStore(database),
    shares: createShareStore(database),
    audit: createAuditStore(database),
    apps: createAppStore(database),
    appFiles: createAppFileStore(database),
    appRuns: createAppRunStore(database),
    attempts: createAttemptStore(database),
    peers,
    /** Throws if the store is incomplete. */
    async migrate(): Promise<void> {
      await migrateDatabase();
      await requireFinished(database);
    },
    async close(): Promise<void> {
      await peers.close();
      await database.destroy();
    },
  };
}

// All columns that contain an encrypted secret, for key rotation and its check.

/** `reseal` writes only if the secret is unchanged since it was read. */
export type SealedRow = { recordId: string; sealed: Sealed; reseal(after: Sealed): Promise<boolean> };
export type ListSealed = () => Promise<SealedRow[]>;

type SecretColumn = { table: string; ringKeyColumn: string; ciphertextColumn: string; hasConnection?: boolean };
type StoredSecret = Sealed & { id: string; connectionId?: string };

function createSealedColumns(database: Database) {
  const listColumn = async ({ table, ringKeyColumn, ciphertextColumn, hasConnection }: SecretColumn): Promise<SealedRow[]> => {
    const [tableRef, ringKeyRef, ciphertextRef] = [sql.table(table), sql.ref(ringKeyColumn), sql.ref(ciphertextColumn)];
    const connectionColumn = hasConnection ? sql`connection_id` : sql`NULL`;
    const query = sql<StoredSecret>`
      SELECT id, ${connectionColumn} AS connection_id, ${ringKeyRef} AS ring_key_id, ${ciphertextRef} AS ciphertext
      FROM ${tableRef} WHERE ${ciphertextRef} IS NOT NULL ORDER BY id`;
    return (await query.execute(database)).rows.map(({ id, connectionId, ringKeyId, ciphertext }) => ({
      recordId: toSecretRecordId(table, ...(connectionId === undefined ? [] : [connectionId]), id),
      sealed: { ringKeyId, ciphertext },
      async reseal(after) {
        const update = sql`
          UPDATE ${tableRef} SET ${ringKeyRef} = ${after.ringKeyId}, ${ciphertextRef} = ${after.ciphertext}
          WHERE id = ${id} AND ${ciphertextRef} = ${ciphertext}`;
        return (await update.execute(database)).numAffectedRows === 1n;
      },
    }));
  };
  const listColumns =
    (...columns: SecretColumn[]): ListSealed =>
    async () =>
      (await Promise.all(columns.map(listColumn))).flat();
  return {
    apiKeys: listColumns({ table: "api_keys", ringKeyColumn: "ring_key_id", ciphertextColumn: "ciphertext", hasConnection: true }),
    downloads: listColumns({ table: "download_tasks", ringKeyColumn: "ring_key_id", ciphertextColumn: "sealed_request" }),
    embedHosts: listColumns(
      { table: "embed_hosts", ringKeyColumn: "ring_key_id", ciphertextColumn: "ciphertext" },
      { table: "embed_hosts", ringKeyColumn: "old_ring_key_id", ciphertextColumn: "old_ciphertext" },
    ),
    webhooks: listColumns({ table: "webhooks", ringKeyColumn: "ring_key_id", ciphertextColumn: "ciphertext" }),
  };
}
