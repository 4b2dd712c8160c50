// The console's store: one database, one small object for each kind of thing stored.

import "server-only";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ArchiveChoice, archiveChoiceSchema } from "@/lib/contract/console";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Copied, isUnfinishedCopy, leftBehind } from "@/lib/shared/database/copy-tables";
import { asStartFailure, isNoTable } from "@/lib/shared/database/postgres";
import { openToRead } from "@/lib/shared/database/sqlite-copy";
import { type AppKeepStore, createAppKeepStore } from "./apps/app-keeps";
import { type AppRunStore, createAppRunStore } from "./apps/app-runs";
import { type AppStore, createAppStore } from "./apps/apps";
import { type AuditStore, createAuditStore } from "./audit/audit";
import { type ConnectionStore, createConnectionStore } from "./connections";
import { copyStore, requireFinished, requireVacant } from "./copy-store";
import { type Database, migratePostgres, openDatabase, openPostgres } from "./database";
import { createDownloadTaskStore, type DownloadTaskStore } from "./download-tasks";
import { createEmbedHostStore, type EmbedHostStore } from "./embed-hosts";
import { createJobLedgerStore, type JobLedgerStore } from "./jobs/job-ledger";
import { createJobUsageStore, type JobUsageStore } from "./jobs/job-usage";
import { createJobViewerStore, type JobViewerStore } from "./jobs/job-viewers";
import { createLedgerSearch, type LedgerSearchStore } from "./jobs/ledger-search";
import {
  createJobLabelStore,
  createSubmissionStore,
  createWorkflowNameStore,
  type JobLabelStore,
  type SubmissionStore,
  type WorkflowNameStore,
} from "./jobs/submissions";
import { createKeyStore, type KeyStore } from "./keys";
import { createNoPeers, createPostgresPeers, type Peers } from "./peers/peers";
import { type AttemptStore, createAttemptStore } from "./people/attempts";
import { createEmbedSessionStore, type EmbedSessionStore } from "./people/embed-sessions";
import { createIdentityStore, type IdentityStore } from "./people/identities";
import { createInvitationStore, type InvitationStore } from "./people/invitations";
import { createMemberStore, type MemberStore } from "./people/members";
import { createSessionStore, type SessionStore } from "./people/sessions";
import { createTokenStore, type TokenStore } from "./people/tokens";
import { createSavedViewStore, type SavedViewStore } from "./saved-views";
import { createSettingStore, createSetUpTokenStore, type SettingStore, type SetUpTokenStore } from "./settings";
import { createShareStore, type ShareStore } from "./shares";

// Choices of assets that wait to be fetched as one file.
// Guarantees: found only by the member who made them; deleted after an hour.
type ArchiveStore = ReturnType<typeof createArchiveStore>;
type KeptArchive = { connectionId: string; choice: ArchiveChoice };

const KEPT_MS = 60 * 60_000;

function createArchiveStore(database: Database) {
  return {
    async keep(memberId: string, { connectionId, choice }: KeptArchive, now: number): Promise<string> {
      await database
        .deleteFrom("archives")
        .where("createdAt", "<", now - KEPT_MS)
        .execute();
      const id = randomUUID();
      const row = { id, memberId, connectionId, choice: writeExactJson(choice), createdAt: now };
      await database.insertInto("archives").values(row).execute();
      return id;
    },

    async find(memberId: string, id: string): Promise<KeptArchive | undefined> {
      const row = await database
        .selectFrom("archives")
        .select(["connectionId", "choice"])
        .where("id", "=", id)
        .where("memberId", "=", memberId)
        .executeTakeFirst();
      return row && { connectionId: row.connectionId, choice: archiveChoiceSchema.parse(JSON.parse(row.choice)) };
    },
  };
}

export type Store = {
  members: MemberStore;
  connections: ConnectionStore;
  keys: KeyStore;
  workflowNames: WorkflowNameStore;
  submissions: SubmissionStore;
  downloadTasks: DownloadTaskStore;
  jobLabels: JobLabelStore;
  jobUsage: JobUsageStore;
  jobViewers: JobViewerStore;
  jobLedger: JobLedgerStore & LedgerSearchStore;
  setUpToken: SetUpTokenStore;
  invitations: InvitationStore;
  identities: IdentityStore;
  sessions: SessionStore;
  settings: SettingStore;
  tokens: TokenStore;
  embedHosts: EmbedHostStore;
  embedSessions: EmbedSessionStore;
  savedViews: SavedViewStore;
  archives: ArchiveStore;
  shares: ShareStore;
  audit: AuditStore;
  apps: AppStore;
  appKeeps: AppKeepStore;
  appRuns: AppRunStore;
  attempts: AttemptStore;
  peers: Peers;
  /** Throws if the database does not hold a whole store. */
  migrate(): Promise<void>;
  close(): Promise<void>;
};

const FILE = "console.sqlite";
/** A file in the data folder until its restore has ended: no console starts there. */
export const UNFINISHED_RESTORE = "restore-unfinished";

/** For commands that must not make an empty console. */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, FILE));
}

type Opened = { database: Database; peers: Peers; migrate(): Promise<void> };

/** Opens the store in the folder, which must exist, or with `url` in that PostgreSQL database. The caller must close it. */
export function openStore(dataDir: string, url?: string): Store {
  const keys = ["encryption-keys", "auth-secret", UNFINISHED_RESTORE].map((name) => join(/* turbopackIgnore: true */ dataDir, name));
  const opened = openAt({ dataDir, url }, keys);
  return storeOn(opened);
}

function openAt({ dataDir = "", url }: Place, keys: readonly string[] = []): Opened {
  if (url !== undefined) {
    const database = openPostgres(url);
    return { database, peers: createPostgresPeers(database, url), migrate: () => migratePostgres(url) };
  }
  const file = join(dataDir, FILE);
  return { ...openDatabase(file, keys), peers: createNoPeers() };
}

export type Place = { dataDir?: string; url?: string };
/** Called before anything is written; the returned function runs before the copy ends. `isGoingOn`: continues an interrupted copy. */
type Alongside = (isGoingOn: boolean) => Promise<() => Promise<void>>;

/** `isReturning`: the target has an earlier state of the same store, which may be overwritten. */
type HowToCopy = { isReturning?: boolean; prepare?: Alongside };

/** Between a folder and a PostgreSQL database. */
export async function copyBetween(from: Place, to: Place, say: (progress: string) => void, how: HowToCopy = {}): Promise<Copied> {
  const { isReturning = false, prepare } = how;
  const [source, target] = [openAt(from), openAt(to)];
  try {
    await source.migrate();
    await target.migrate();
    if (!isReturning) await requireVacant(target.database);
    const alongside = await prepare?.(await isUnfinishedCopy(target.database));
    return await copyStore({ from: source.database, to: target.database, say, alongside });
  } finally {
    await Promise.all([source.database.destroy(), target.database.destroy()]);
  }
}

/** Throws unless a console's store may be copied there; an unfinished copy may be continued. Makes no table. */
export async function requireRoomAt(url: string): Promise<void> {
  await orWithoutTables(url, requireVacant);
}

/** Whether a console was set up there. Makes no table. */
export async function holdsConsole({ dataDir, url }: Place): Promise<boolean> {
  return url === undefined ? hasStore(dataDir ?? "") : (await membersAt(url)).size > 0;
}

/** Whether the folder's console was moved to the database completely: they share a member, or the folder has none. */
export async function isMovedConsole({ dataDir = "" }: Place, { url = "" }: Place): Promise<boolean> {
  if (await orWithoutTables(url, isUnfinishedCopy)) return false;
  const [here, there] = [membersIn(dataDir), await membersAt(url)];
  return there.size > 0 && (here.length === 0 || here.some((id) => there.has(id)));
}

/** Throws if members would be left behind in the file. */
export async function requireConsoleRows(dataDir: string, url: string | undefined): Promise<void> {
  if (url === undefined || membersIn(dataDir).length === 0 || (await holdsConsole({ url }))) return;
  throw new Error(leftBehind(join(dataDir, FILE)));
}

async function membersAt(url: string): Promise<ReadonlySet<string>> {
  const rows = await orWithoutTables(url, (database) => database.selectFrom("members").select("id").execute());
  return new Set(rows?.map(({ id }) => id));
}

function membersIn(dataDir: string): string[] {
  if (!hasStore(dataDir)) return [];
  const database = openToRead(join(dataDir, FILE));
  try {
    const isMade = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'members'").get() !== undefined;
    return isMade ? database.prepare<[], string>("SELECT id FROM members").pluck().all() : [];
  } finally {
    database.close();
  }
}

async function orWithoutTables<T>(url: string, look: (database: Database) => Promise<T>): Promise<T | undefined> {
  const database = openPostgres(url);
  try {
    return await look(database);
  } catch (error) {
    if (!isNoTable(error)) throw asStartFailure(error);
    return undefined;
  } finally {
    await database.destroy();
  }
}

function storeOn({ database, peers, migrate: migrateIt }: Opened): Store {
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
    jobLedger: { ...createJobLedgerStore(database), ...createLedgerSearch(database) },
    setUpToken: createSetUpTokenStore(database),
    invitations: createInvitationStore(database),
    identities: createIdentityStore(database),
    sessions: createSessionStore(database),
    settings: createSettingStore(database),
    tokens: createTokenStore(database),
    embedHosts: createEmbedHostStore(database),
    embedSessions: createEmbedSessionStore(database),
    savedViews: createSavedViewStore(database),
    archives: createArchiveStore(database),
    shares: createShareStore(database),
    audit: createAuditStore(database),
    apps: createAppStore(database),
    appKeeps: createAppKeepStore(database),
    appRuns: createAppRunStore(database),
    attempts: createAttemptStore(database),
    peers,
    async migrate() {
      await migrateIt();
      await requireFinished(database);
    },
    async close() {
      await peers.close();
      await database.destroy();
    },
  };
}
