// The console's tables as types. Times are milliseconds since 1970; booleans are 0 or 1 in SQLite and in PostgreSQL alike.
// Must never: hold a key, a password or a token in plain text: only ciphertext, argon2 hashes and SHA-256 hashes.

import "server-only";
import { type Generated } from "kysely";
import { type AppFileRow, type AppPresetRow, type AppRow, type AppRunRow, type AppVersionRow } from "./apps/app-rows";
import {
  type EmbedSessionRow,
  type IdentityRow,
  type InvitationRow,
  type MemberRow,
  type ProviderSessionRow,
  type SessionRow,
  type TokenRow,
} from "./people/people-rows";

export type ConnectionRow = {
  id: string;
  name: string;
  baseUrl: string;
  accountUrl: string | null;
  /** Null: shared by the team. */
  memberId: string | null;
  status: string;
  dialect: string;
  /** 0: a local server that was started without assets. */
  hasAssets: number;
  createdAt: number;
};

export type KeyRow = {
  id: string;
  connectionId: string;
  /** The key of the ring that encrypted it. */
  ringKeyId: string;
  ciphertext: string;
  fingerprint: string;
  createdAt: number;
};

export type WorkflowNameRow = { connectionId: string; workflowId: string; name: string; isMasked: number };

export type SubmissionRow = {
  memberId: string;
  idempotencyKey: string;
  contentHash: string;
  /** The service's answer as JSON; null while it is awaited, or if none came. */
  answer: string | null;
  failureCode: string | null;
  failureMessage: string | null;
  createdAt: number;
};

/** `choice`: JSON. */
export type ArchiveRow = { id: string; memberId: string; connectionId: string; choice: string; createdAt: number };

/** `label` is empty for a rerun without one. */
export type JobLabelRow = { connectionId: string; jobId: string; label: string; rerunOf: string | null; createdAt: number };

export type DownloadTaskRow = {
  id: string;
  connectionId: string;
  /** Null: the member who started it is gone. */
  memberId: string | null;
  /** The service's own id of the task. */
  taskId: string;
  /** The address without its query. */
  source: string;
  /** The key of the ring that encrypted the request. */
  ringKeyId: string;
  sealedRequest: string;
  state: string;
  word: string;
  bytesDone: number | null;
  bytesTotal: number | null;
  share: number | null;
  assetId: string | null;
  fileName: string | null;
  reason: string | null;
  canCancel: number;
  createdAt: number;
  checkedAt: number;
  endedAt: number | null;
};

export type AuditRow = {
  id: number;
  at: number;
  requestId: string;
  memberId: string | null;
  memberName: string | null;
  action: string;
  connectionId: string | null;
  target: string | null;
  status: number;
  code: string | null;
  outcome: string | null;
  /** Joins the entries of one act on many things. */
  actId: string | null;
  /** The member's credential that was used, such as "token NAME"; null: the member themselves. */
  via: string | null;
  /** Null: no member, or written before addresses were recorded. */
  memberEmail: string | null;
  hash: string;
};

/** One row: number and hash of the last entry written. */
type AuditEndRow = { id: number; hash: string };

export type SavedViewRow = {
  id: string;
  /** Null: the team's. */
  memberId: string | null;
  /** The list that the view is for. */
  screen: string;
  name: string;
  query: string;
  createdAt: number;
};

export type LedgerConnectionRow = {
  number: Generated<number>;
  connectionId: string;
  /** All jobs submitted up to this time are known, back to `cursor_ms`; null if nothing was read yet. */
  newestMs: number | null;
  /** How far back the list was read in this round. */
  cursorMs: number | null;
  /** The offset where reading continues; null if this round is over. */
  nextOffset: number | null;
  /** A round has reached the end of the list. */
  isComplete: Generated<number>;
  /** Older jobs were left out, because the ledger is full. */
  isBounded: Generated<number>;
  sweptAt: number | null;
  jobs: Generated<number>;
};

export type LedgerJobRow = {
  /** Larger than a double holds: never read as a number. */
  key: bigint;
  number: number;
  jobId: string;
  /** The time in the key is the service's own, to the millisecond. */
  isExact: number;
  memberId: string | null;
  runMs: number | null;
  /** Kinds of its outputs, separated by commas. */
  kinds: string;
  /** A list item as JSON; secrets are masked. */
  item: string;
  /** The texts of its inputs; null if they have not been read. */
  inputs: string | null;
};

/** Members who see the jobs of another member's own connection. */
export type JobViewerRow = { connectionId: string; memberId: string; givenBy: string; givenAt: number };

export type JobUsageRow = {
  connectionId: string;
  jobId: string;
  memberId: string;
  /** When it was submitted. */
  at: number;
  /** The state in the service's last words. */
  word: string;
  runMs: number | null;
  outputs: number | null;
  /** Bytes of all its outputs; null if unknown. */
  bytes: number | null;
  /** 1: the service was asked for the size. */
  isSized: Generated<number>;
  /** The name of the token that submitted the job. */
  token: string | null;
};

export type ShareRow = {
  id: string;
  tokenHash: string;
  memberId: string;
  connectionId: string;
  baseUrl: string;
  jobId: string | null;
  title: string;
  passwordHash: string | null;
  keepsMetadata: number;
  showsMaker: number;
  showsWorkflow: number;
  createdAt: number;
  expiresAt: number;
  revokedAt: number | null;
  views: Generated<number>;
  downloads: Generated<number>;
  /** Passwords tried since `attempts_since`. */
  attempts: Generated<number>;
  attemptsSince: Generated<number>;
};

/** `item`: JSON. `pieces`: JSON of what remains of the file without its metadata; null before it was cleaned. */
export type ShareItemRow = { shareId: string; number: number; item: string; pieces: string | null };

export type EmbedHostRow = {
  id: string;
  name: string;
  /** JSON. */
  origins: string;
  /** Null: all connections that a member may use. */
  connectionId: string | null;
  role: string;
  /** JSON. */
  pages: string;
  guests: number;
  /** Null: tickets are checked with the secret below. */
  jwksUrl: string | null;
  ringKeyId: string | null;
  ciphertext: string | null;
  /** The previous secret, valid until `old_until`. */
  oldRingKeyId: string | null;
  oldCiphertext: string | null;
  oldUntil: number | null;
  /** The admin who last set it up; null if that was before this was stored. */
  keptBy: string | null;
  keptByName: string | null;
  /** Increased when every session of the host must end. */
  version: number;
  createdAt: number;
  /** The time of the last refused ticket. */
  refusedAt: number | null;
  refusal: string | null;
};

export type Tables = {
  identities: IdentityRow;
  providerSessions: ProviderSessionRow;
  jobViewers: JobViewerRow;
  shownFiles: { connectionId: string; fileHash: string; at: number };
  jobUsage: JobUsageRow;
  shares: ShareRow;
  shareItems: ShareItemRow;
  embedHosts: EmbedHostRow;
  embedTickets: { hostId: string; ticketHash: string; expiresAt: number };
  embedSessions: EmbedSessionRow;
  ledgerConnections: LedgerConnectionRow;
  ledgerJobs: LedgerJobRow;
  savedViews: SavedViewRow;
  openingViews: { memberId: string; screen: string; viewId: string };
  members: MemberRow;
  connections: ConnectionRow;
  apiKeys: KeyRow;
  workflowNames: WorkflowNameRow;
  submissions: SubmissionRow;
  archives: ArchiveRow;
  downloadTasks: DownloadTaskRow;
  jobLabels: JobLabelRow;
  setUpTokens: { tokenHash: string; createdAt: number };
  invitations: InvitationRow;
  sessions: SessionRow;
  /** Why a session ended, for pages that are still open with it. */
  endedSessions: { id: string; cause: string; at: number };
  settings: { name: string; value: string };
  tokens: TokenRow;
  audit: AuditRow;
  auditEnd: AuditEndRow;
  /** When a name's bucket of attempts is full again. */
  attempts: { name: string; fullAt: number };
  apps: AppRow;
  appMembers: { appId: string; memberId: string };
  appVersions: AppVersionRow;
  appFavourites: { appId: string; memberId: string };
  appPresets: AppPresetRow;
  appFiles: AppFileRow;
  appRuns: AppRunRow;
};
