// The console's tables as types. Times are milliseconds since 1970; NULL is read as undefined (database.ts).
// Must never: hold a key, a password or a token in plain text: only ciphertext, argon2 hashes and SHA-256 hashes.

/* eslint-disable max-lines -- one list of all tables */

import "server-only";
import { type ColumnType, type Generated, type Selectable } from "kysely";
import { type AppRunState } from "@/lib/contract/apps/app";
import { type Dialect } from "@/lib/contract/connections";
import { type EmbedRole } from "@/lib/contract/embed/embedding";
import { type Role } from "@/lib/contract/people/roles";

type Optional<T> = ColumnType<T | undefined, T | null | undefined, T | null | undefined>;
/** A list or an object as JSON. */
type Json = string;

type MemberTable = {
  id: string;
  name: string;
  email: string;
  role: Role;
  /** Empty: no password; the member signs in at a provider. */
  passwordHash: string;
  passwordResetAt: Optional<number>;
  disabled: Generated<boolean>;
  /** Increased when every session of the member must end. */
  sessionVersion: Generated<number>;
  lastConnectionId: Optional<string>;
  createdAt: number;
  /** The host page of a guest, who can sign in only with its tickets. */
  guestOf: Optional<string>;
  guestSeenAt: Optional<number>;
  /** When one of the member's sessions was last used, exact to the minute. */
  seenAt: Optional<number>;
};

type IdentityTable = {
  issuer: string;
  subject: string;
  provider: string;
  /** Undefined: the member was removed. */
  memberId: Optional<string>;
  createdAt: number;
  usedAt: number;
};

type SessionTable = {
  id: string;
  memberId: string;
  /** The member's `sessionVersion` at the sign-in. */
  version: number;
  /** `password`, or the party that vouched for the member. */
  method: string;
  browser: string;
  address: string;
  createdAt: number;
  usedAt: number;
  confirmedAt: number;
};

type InvitationTable = {
  id: string;
  tokenHash: string;
  email: string;
  role: Role;
  invitedBy: string;
  expiresAt: number;
  acceptedAt: Optional<number>;
  createdAt: Optional<number>;
  withdrawnAt: Optional<number>;
  /** Undefined: makes a member. Otherwise it gives that member a new password. */
  resetsMemberId: Optional<string>;
};

type TokenTable = {
  id: string;
  memberId: string;
  tokenHash: string;
  name: string;
  role: Role;
  /** The connection for requests that name none. */
  connectionId: string;
  connections: Optional<Json>;
  /** all, reads, or a list of names. */
  operations: Json;
  createdAt: number;
  expiresAt: Optional<number>;
  lastUsedAt: Optional<number>;
  revokedAt: Optional<number>;
};

type EmbedHostTable = {
  id: string;
  name: string;
  origins: Json;
  connectionId: Optional<string>;
  role: EmbedRole;
  pages: Json;
  guests: boolean;
  /** Undefined: tickets are checked with the secret below. */
  jwksUrl: Optional<string>;
  ringKeyId: Optional<string>;
  ciphertext: Optional<string>;
  /** The previous secret, valid until `oldUntil`. */
  oldRingKeyId: Optional<string>;
  oldCiphertext: Optional<string>;
  oldUntil: Optional<number>;
  keptBy: Optional<string>;
  keptByName: Optional<string>;
  /** Increased when every session of the host must end. */
  version: number;
  createdAt: number;
  refusedAt: Optional<number>;
  refusal: Optional<string>;
};

type EmbedSessionTable = {
  id: string;
  tokenHash: string;
  hostId: string;
  hostVersion: number;
  slot: string;
  origin: string;
  memberId: string;
  memberVersion: number;
  role: EmbedRole;
  connectionId: Optional<string>;
  pages: Json;
  theme: Optional<string>;
  language: Optional<string>;
  expiresAt: number;
};

type ConnectionTable = {
  id: string;
  name: string;
  baseUrl: string;
  accountUrl: Optional<string>;
  /** Undefined: shared by the team. */
  memberId: Optional<string>;
  status: Generated<string>;
  dialect: Dialect;
  /** False: a local server that was started without assets. */
  hasAssets: boolean;
  createdAt: number;
};

/** Ciphertext of an API key, with the id of the ring key that decrypts it. */
export type StoredKey = {
  id: string;
  connectionId: string;
  ringKeyId: string;
  ciphertext: string;
  fingerprint: string;
  createdAt: number;
};

type SubmissionTable = {
  memberId: string;
  idempotencyKey: string;
  contentHash: string;
  answer: Optional<Json>;
  failureCode: Optional<string>;
  failureMessage: Optional<string>;
  createdAt: number;
};

type DownloadTaskTable = {
  id: string;
  connectionId: string;
  /** Undefined: the member who started it is gone. */
  memberId: Optional<string>;
  taskId: string;
  /** The address without its query. */
  source: string;
  ringKeyId: string;
  sealedRequest: string;
  state: string;
  word: string;
  bytesDone: Optional<number>;
  bytesTotal: Optional<number>;
  share: Optional<number>;
  assetId: Optional<string>;
  fileName: Optional<string>;
  reason: Optional<string>;
  /** 1: yes; 0: not known; -1: no. */
  canCancel: number;
  createdAt: number;
  checkedAt: number;
  endedAt: Optional<number>;
};

type AuditTable = {
  id: number;
  at: number;
  requestId: string;
  memberId: Optional<string>;
  memberName: Optional<string>;
  action: string;
  connectionId: Optional<string>;
  target: Optional<string>;
  status: number;
  code: Optional<string>;
  outcome: Optional<string>;
  actId: Optional<string>;
  /** The member's credential that was used, such as "token NAME"; undefined: the member themselves. */
  via: Optional<string>;
  memberEmail: Optional<string>;
  hash: string;
};

type LedgerConnectionTable = {
  number: Generated<number>;
  connectionId: string;
  /** All jobs submitted up to this time are known, back to `cursorMs`; undefined if nothing was read yet. */
  newestMs: Optional<number>;
  /** How far back the list was read in this round. */
  cursorMs: Optional<number>;
  nextOffset: Optional<number>;
  isComplete: Generated<boolean>;
  /** Older jobs were left out, because the index is full. */
  isBounded: Generated<boolean>;
  sweptAt: Optional<number>;
  jobs: Generated<number>;
};

type LedgerJobTable = {
  /** Larger than a double holds: never read as a number. */
  key: bigint;
  number: number;
  jobId: string;
  /** The time in the key is the service's own, to the millisecond. */
  isExact: boolean;
  memberId: Optional<string>;
  runMs: Optional<number>;
  /** Kinds of its outputs, separated by commas. */
  kinds: string;
  /** A list item; secrets are masked. */
  item: Json;
  /** The texts of its inputs; undefined if they have not been read. */
  inputs: Optional<string>;
};

type JobUsageTable = {
  connectionId: string;
  jobId: string;
  memberId: string;
  /** When it was submitted. */
  at: number;
  /** The last state that the service reported. */
  word: string;
  runMs: Optional<number>;
  outputs: Optional<number>;
  bytes: Optional<number>;
  /** 1: the size was requested from the service; 2: the size is incomplete. */
  isSized: Generated<number>;
  token: Optional<string>;
};

type ShareTable = {
  id: string;
  tokenHash: string;
  memberId: string;
  connectionId: string;
  /** The connection's address when the share was made: elsewhere the same id means something else. */
  baseUrl: string;
  jobId: Optional<string>;
  title: string;
  passwordHash: Optional<string>;
  keepsMetadata: boolean;
  showsMaker: boolean;
  showsWorkflow: boolean;
  createdAt: number;
  expiresAt: number;
  revokedAt: Optional<number>;
  views: Generated<number>;
  downloads: Generated<number>;
  attempts: Generated<number>;
  attemptsSince: Generated<number>;
};

type AppTable = {
  id: string;
  connectionId: string;
  /** Undefined: its maker has left. */
  makerId: Optional<string>;
  title: string;
  text: string;
  tags: Json;
  cover: Optional<string>;
  /** The text that searches look in, in lower case. */
  words: string;
  definition: Json;
  access: "team" | "members" | "me";
  roles: Json;
  limits: Json;
  version: number;
  updatedAt: number;
};

type AppVersionTable = {
  appId: string;
  number: number;
  at: number;
  by: string;
  changes: Json;
  restoredFrom: Optional<number>;
  definition: Json;
};

type AppFileTable = {
  appId: string;
  memberId: string;
  name: string;
  bytes: number;
  pixels: Optional<number>;
  givenAt: number;
  ownName: string;
};

type AppRunTable = {
  id: string;
  appId: string;
  memberId: string;
  version: number;
  runKey: Optional<string>;
  contentHash: string;
  inputs: Json;
  jobId: Optional<string>;
  state: AppRunState;
  createdAt: number;
  endedAt: Optional<number>;
  error: Optional<string>;
  /** The facts behind the error's sentence. */
  errorFacts: Optional<Json>;
  /** Its outputs, once it has ended. */
  results: Optional<Json>;
};

export type Tables = {
  identities: IdentityTable;
  /** `sealedHint`: the ID token, encrypted. */
  providerSessions: { sessionId: string; provider: string; sealedHint: Optional<string> };
  jobViewers: { connectionId: string; memberId: string; givenBy: string; givenAt: number };
  shownFiles: { connectionId: string; fileHash: string; at: number };
  jobUsage: JobUsageTable;
  shares: ShareTable;
  /** `pieces`: what remains of the file without its metadata; undefined before it was cleaned. */
  shareItems: { shareId: string; number: number; item: Json; pieces: Optional<Json> };
  embedHosts: EmbedHostTable;
  embedTickets: { hostId: string; ticketHash: string; expiresAt: number };
  embedSessions: EmbedSessionTable;
  ledgerConnections: LedgerConnectionTable;
  ledgerJobs: LedgerJobTable;
  savedViews: { id: string; memberId: Optional<string>; screen: string; name: string; query: string; createdAt: number };
  openingViews: { memberId: string; screen: string; viewId: string };
  members: MemberTable;
  connections: ConnectionTable;
  apiKeys: StoredKey;
  workflowNames: { connectionId: string; workflowId: string; name: string };
  submissions: SubmissionTable;
  archives: { id: string; memberId: string; connectionId: string; choice: Json; createdAt: number };
  downloadTasks: DownloadTaskTable;
  /** `label` is empty for a rerun without one. */
  jobLabels: { connectionId: string; jobId: string; label: string; rerunOf: Optional<string>; createdAt: number };
  setUpTokens: { tokenHash: string; createdAt: number };
  invitations: InvitationTable;
  sessions: SessionTable;
  endedSessions: { id: string; cause: string; at: number };
  settings: { name: string; value: string };
  tokens: TokenTable;
  audit: AuditTable;
  /** One row: number and hash of the last entry written. */
  auditEnd: { id: number; hash: string };
  /** When a name's bucket of attempts is full again. */
  attempts: { name: string; fullAt: number };
  apps: AppTable;
  appMembers: { appId: string; memberId: string };
  appVersions: AppVersionTable;
  appFavourites: { appId: string; memberId: string };
  appPresets: { id: string; appId: string; memberId: string; name: string; inputs: Json; isTeam: boolean };
  appFiles: AppFileTable;
  appRuns: AppRunTable;
};

/** A row as it is read. */
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
