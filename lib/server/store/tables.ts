// Types of the console's database tables. Times are milliseconds since 1970; NULL is read as undefined (database.ts).
// Never store a key, password or token in plain text: only ciphertext, argon2 hashes and SHA-256 hashes.

import "server-only";
import { type ColumnType, type Generated, type Selectable } from "kysely";
import { type AppRunState } from "@/lib/contract/apps/app";
import { type Dialect } from "@/lib/contract/connections";
import { type EmbedRole } from "@/lib/contract/embed/embedding";
import { type Role } from "@/lib/contract/members/roles";
import { type DeliveryProblem, type DeliveryState, type WebhookFormat } from "@/lib/contract/webhook-events";

type Optional<T> = ColumnType<T | undefined, T | null | undefined, T | null | undefined>;
type Texts<Column extends string> = Record<Column, string>;
type Numbers<Column extends string> = Record<Column, number>;
type OptionalTexts<Column extends string> = Record<Column, Optional<string>>;
type OptionalNumbers<Column extends string> = Record<Column, Optional<number>>;
/** A list or an object as JSON. */
type Json = string;

type MemberTable = Texts<"id" | "name" | "email"> &
  OptionalNumbers<"passwordResetAt" | "guestSeenAt"> & {
    lastConnectionId: Optional<string>;
    createdAt: number;
    role: Role;
    /** Empty if the member has no password and signs in with a provider. */
    passwordHash: string;
    disabled: Generated<boolean>;
    /** Increased when every session of the member must end. */
    sessionVersion: Generated<number>;
    /** Set for guests: the host page whose tickets sign them in. */
    guestOf: Optional<string>;
    /** When one of the member's sessions was last used, to the minute. */
    seenAt: Optional<number>;
  };

type IdentityTable = Texts<"issuer" | "subject" | "provider"> &
  Numbers<"createdAt" | "usedAt"> & {
    /** Undefined if the member was removed. */
    memberId: Optional<string>;
  };

type SessionTable = Texts<"id" | "memberId" | "browser" | "address"> &
  Numbers<"createdAt" | "usedAt" | "confirmedAt"> & {
    /** The member's `sessionVersion` at sign-in. */
    version: number;
    /** `password`, or the provider or proxy that authenticated the member. */
    method: string;
  };

type InvitationTable = Texts<"id" | "tokenHash" | "email" | "invitedBy"> &
  OptionalNumbers<"acceptedAt" | "createdAt" | "withdrawnAt"> & {
    expiresAt: number;
    role: Role;
    /** Undefined if the invitation creates a member. Otherwise it resets that member's password. */
    resetsMemberId: Optional<string>;
  };

type TokenTable = Texts<"id" | "memberId" | "tokenHash" | "name"> &
  OptionalNumbers<"expiresAt" | "lastUsedAt" | "revokedAt"> & {
    connections: Optional<string>;
    createdAt: number;
    role: Role;
    /** The default connection of requests. */
    connectionId: string;
    /** `"all"`, `"reads"`, or a list of operation names. */
    operations: Json;
  };

type EmbedHostTable = Texts<"id" | "name" | "origins" | "pages"> &
  OptionalTexts<"connectionId" | "ringKeyId" | "ciphertext" | "oldCiphertext" | "keptBy" | "keptByName" | "refusal"> &
  OptionalNumbers<"oldUntil" | "refusedAt"> & {
    createdAt: number;
    role: EmbedRole;
    guests: boolean;
    /** Undefined if the secret verifies tickets. */
    jwksUrl: Optional<string>;
    /** The previous secret, valid until `oldUntil`. */
    oldRingKeyId: Optional<string>;
    /** Increased when every session of the host must end. */
    version: number;
  };

type EmbedSessionTable = Texts<"id" | "tokenHash" | "hostId" | "slot" | "origin" | "memberId" | "pages"> &
  Numbers<"hostVersion" | "memberVersion" | "expiresAt"> &
  OptionalTexts<"connectionId" | "theme" | "language"> & {
    role: EmbedRole;
  };

type ConnectionTable = Texts<"id" | "name" | "baseUrl"> & {
  accountUrl: Optional<string>;
  createdAt: number;
  /** Undefined if shared by the team. */
  memberId: Optional<string>;
  status: Generated<string>;
  dialect: Dialect;
  /** False for a local server that was started without assets. */
  hasAssets: boolean;
};

/** Ciphertext of an API key, with the id of the ring key that decrypts it. */
export type StoredKey = Texts<"id" | "connectionId" | "ringKeyId" | "ciphertext" | "fingerprint"> & {
  createdAt: number;
};

type SubmissionTable = Texts<"memberId" | "idempotencyKey" | "contentHash"> &
  OptionalTexts<"answer" | "failureCode" | "failureMessage"> & {
    createdAt: number;
  };

type DownloadTaskTable = Texts<"id" | "connectionId" | "taskId" | "ringKeyId" | "sealedRequest" | "state" | "word"> &
  Numbers<"createdAt" | "checkedAt"> &
  OptionalTexts<"assetId" | "fileName" | "reason"> &
  OptionalNumbers<"bytesDone" | "bytesTotal" | "share" | "endedAt"> & {
    /** Undefined if the member who started it was removed. */
    memberId: Optional<string>;
    /** The URL without its query. */
    source: string;
    /** 1: yes; 0: unknown; -1: no. */
    canCancel: number;
  };

type AuditTable = Texts<"requestId" | "action" | "hash"> &
  Numbers<"id" | "at" | "status"> &
  OptionalTexts<"memberId" | "memberName" | "connectionId" | "target" | "code" | "outcome" | "actId" | "memberEmail"> & {
    /** The credential the member used, such as "token NAME". Undefined for a session. */
    via: Optional<string>;
  };

type IndexedConnectionTable = OptionalNumbers<"nextOffset" | "sweptAt"> & {
  connectionId: string;
  number: Generated<number>;
  /** All jobs from `cursorMs` to this time are indexed. Undefined before the first read. */
  newestMs: Optional<number>;
  /** Creation time of the oldest job indexed in this pass. */
  cursorMs: Optional<number>;
  isComplete: Generated<boolean>;
  /** Older jobs were left out, because the index is full. */
  isBounded: Generated<boolean>;
  jobs: Generated<number>;
};

type IndexedJobTable = OptionalTexts<"memberId" | "runner"> & {
  runMs: Optional<number>;
  number: number;
  jobId: string;
  /** Exceeds a double's precision, so never read it as a number. */
  key: bigint;
  /** True if the service reported the time in the key, to the millisecond. */
  isExact: boolean;
  /** Kinds of its outputs, separated by commas. */
  kinds: string;
  /** A list item with masked secrets. */
  item: Json;
  /** The texts of its inputs. Undefined if they have not been read. */
  inputs: Optional<string>;
  /** Groups runs that are expected to take equally long. Undefined for failed and cancelled ones. */
  runKey: Optional<string>;
};

type JobUsageTable = Texts<"connectionId" | "jobId" | "memberId"> &
  OptionalNumbers<"runMs" | "outputs" | "bytes"> & {
    token: Optional<string>;
    /** When it was submitted. */
    at: number;
    /** The last state that the service reported. */
    word: string;
    /** 1: the size was requested from the service; 2: the size is incomplete. */
    isSized: Generated<number>;
  };

type ShareTable = Texts<"id" | "tokenHash" | "memberId" | "connectionId" | "title"> &
  Numbers<"createdAt" | "expiresAt"> &
  OptionalTexts<"jobId" | "passwordHash"> & {
    revokedAt: Optional<number>;
    /** The connection's URL when the share was created, because another service may use the same ids. */
    baseUrl: string;
    keepsMetadata: boolean;
    showsMaker: boolean;
    showsWorkflow: boolean;
    views: Generated<number>;
    downloads: Generated<number>;
  };

type AppTable = Texts<"id" | "connectionId" | "title" | "text" | "tags" | "definition" | "roles" | "limits"> &
  Numbers<"version" | "updatedAt"> & {
    cover: Optional<string>;
    /** Undefined if the member who created it was removed. */
    makerId: Optional<string>;
    /** The searchable text, in lower case. */
    words: string;
    access: "team" | "members" | "me";
  };

type AppVersionTable = Texts<"appId" | "by" | "changes" | "definition"> &
  Numbers<"number" | "at"> & {
    restoredFrom: Optional<number>;
  };

type AppFileTable = Texts<"appId" | "memberId" | "name" | "ownName"> &
  Numbers<"bytes" | "givenAt"> & {
    pixels: Optional<number>;
  };

type AppRunTable = Texts<"id" | "appId" | "memberId" | "contentHash" | "inputs"> &
  Numbers<"version" | "createdAt"> &
  OptionalTexts<"runKey" | "jobId" | "error"> & {
    endedAt: Optional<number>;
    state: AppRunState;
    /** The error's details, except its message. */
    errorFacts: Optional<Json>;
    /** The outputs of a run that has ended. */
    results: Optional<Json>;
  };

type WebhookTable = Texts<"id" | "connectionId" | "name" | "origin" | "events" | "ciphertext"> & {
  createdAt: number;
  format: WebhookFormat;
  includesPrompts: boolean;
  isEnabled: boolean;
  /** `ciphertext` contains the URL and the secrets. */
  ringKeyId: string;
  /** Until this time, deliveries are also signed with the previous secret. */
  oldUntil: Optional<number>;
};

type WebhookDeliveryTable = Texts<"id" | "webhookId" | "eventId" | "type"> &
  Numbers<"attempts" | "giveUpAt" | "createdAt"> &
  OptionalNumbers<"lastAt" | "durationMs" | "status"> & {
    response: Optional<string>;
    /** The payload, before it is converted to the webhook's format. */
    body: Json;
    state: DeliveryState;
    /** When it is due, or when the lease of the current attempt ends. Undefined if it has ended. */
    nextAt: Optional<number>;
    problem: Optional<DeliveryProblem>;
  };

export type Tables = {
  identities: IdentityTable;
  /** `sealedHint` is the encrypted ID token. */
  providerSessions: { sessionId: string; provider: string; sealedHint: Optional<string> };
  jobViewers: { connectionId: string; memberId: string; givenBy: string; givenAt: number };
  shownFiles: { connectionId: string; fileHash: string; at: number };
  jobUsage: JobUsageTable;
  shares: ShareTable;
  /** `pieces`: the file without its metadata. Undefined until the metadata is removed. */
  shareItems: { shareId: string; number: number; item: Json; pieces: Optional<Json> };
  embedHosts: EmbedHostTable;
  embedSessions: EmbedSessionTable;
  webhooks: WebhookTable;
  webhookDeliveries: WebhookDeliveryTable;
  /** The state of a connection's jobs, leased by one process until `heldUntil`. */
  webhookWatches: { connectionId: string; state: Json; holder: string; heldUntil: number };
  ledgerConnections: IndexedConnectionTable;
  ledgerJobs: IndexedJobTable;
  savedViews: { id: string; memberId: Optional<string>; screen: string; name: string; query: string; createdAt: number };
  openingViews: { memberId: string; screen: string; viewId: string };
  members: MemberTable;
  connections: ConnectionTable;
  apiKeys: StoredKey;
  workflowNames: { connectionId: string; workflowId: string; name: string };
  submissions: SubmissionTable;
  archives: { id: string; memberId: string; connectionId: string; choice: Json; createdAt: number };
  downloadTasks: DownloadTaskTable;
  jobLabels: JobLabelTable;
  setUpTokens: { tokenHash: string; createdAt: number };
  invitations: InvitationTable;
  sessions: SessionTable;
  endedSessions: { id: string; cause: string; at: number };
  settings: { name: string; value: string };
  tokens: TokenTable;
  audit: AuditTable;
  /** One row: id and hash of the last audit entry. */
  auditEnd: { id: number; hash: string };
  /** `fullAt`: when the rate limit bucket of a name is full again. */
  attempts: { name: string; fullAt: number };
  apps: AppTable;
  appMembers: { appId: string; memberId: string };
  appVersions: AppVersionTable;
  appFavourites: { appId: string; memberId: string };
  appPresets: { id: string; appId: string; memberId: string; name: string; inputs: Json; isTeam: boolean };
  appFiles: AppFileTable;
  appRuns: AppRunTable;
};

/** `label` is empty for a rerun without one. `batchSize` is the number of jobs that the batch will have. */
type JobLabelTable = Texts<"connectionId" | "jobId" | "label"> &
  OptionalTexts<"rerunOf" | "batchId"> & {
    batchSize: Optional<number>;
    createdAt: number;
  };

/** A row of a query result. */
export type Row<T extends keyof Tables> = Selectable<Tables[T]>;
