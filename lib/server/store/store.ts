// The console's store: one database, one small object for each thing stored.

import "server-only";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type DiskReserve } from "@/lib/shared/disk-reserve";
import { createArchiveStore, type ArchiveStore } from "./archives";
import { createAuditStore, type AuditStore } from "./audit";
import { createConnectionStore, type ConnectionStore } from "./connections";
import { migrate, openDatabase } from "./database";
import { createDownloadTaskStore, type DownloadTaskStore } from "./download-tasks";
import { createEndedSessionStore, type EndedSessionStore } from "./ended-sessions";
import { createInvitationStore, type InvitationStore } from "./invitations";
import { createJobLedgerStore, type JobLedgerStore } from "./job-ledger";
import { createJobLabelStore, type JobLabelStore } from "./job-labels";
import { createLedgerSearch, type LedgerSearchStore } from "./ledger-search";
import { createKeyStore, type KeyStore } from "./keys";
import { createMemberStore, type MemberStore } from "./members";
import { createSubmissionStore, type SubmissionStore } from "./submissions";
import { createSavedViewStore, type SavedViewStore } from "./saved-views";
import { createSetUpTokenStore, type SetUpTokenStore } from "./set-up-token";
import { createWorkflowNameStore, type WorkflowNameStore } from "./workflow-names";

export type Store = {
  members: MemberStore;
  connections: ConnectionStore;
  keys: KeyStore;
  workflowNames: WorkflowNameStore;
  submissions: SubmissionStore;
  downloadTasks: DownloadTaskStore;
  jobLabels: JobLabelStore;
  jobLedger: JobLedgerStore & LedgerSearchStore;
  setUpToken: SetUpTokenStore;
  invitations: InvitationStore;
  endedSessions: EndedSessionStore;
  savedViews: SavedViewStore;
  archives: ArchiveStore;
  audit: AuditStore;
  migrate(): Promise<void>;
  close(): Promise<void>;
};

const FILE = "console.sqlite";

/** For commands that must not make an empty console where there is none. */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, FILE));
}

/** The folder must exist. Whoever opens it closes it. */
export function openStore(dataDir: string, reserve?: DiskReserve): Store {
  const file = join(dataDir, FILE);
  const database = openDatabase(
    file,
    ["encryption-keys", "auth-secret"].map((name) => join(dataDir, name)),
    reserve,
  );
  return {
    members: createMemberStore(database),
    connections: createConnectionStore(database),
    keys: createKeyStore(database),
    workflowNames: createWorkflowNameStore(database),
    submissions: createSubmissionStore(database),
    downloadTasks: createDownloadTaskStore(database),
    jobLabels: createJobLabelStore(database),
    jobLedger: { ...createJobLedgerStore(database), ...createLedgerSearch(database) },
    setUpToken: createSetUpTokenStore(database),
    invitations: createInvitationStore(database),
    endedSessions: createEndedSessionStore(database),
    savedViews: createSavedViewStore(database),
    archives: createArchiveStore(database),
    audit: createAuditStore(database),
    migrate: () => migrate(database, file),
    close: () => database.destroy(),
  };
}
