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
  base_url: string;
  account_url: string | null;
  /** Null: shared by the team. */
  member_id: string | null;
  status: string;
  dialect: string;
  /** 0: a local server that was started without assets. */
  has_assets: number;
  created_at: number;
};

export type KeyRow = {
  id: string;
  connection_id: string;
  /** The key of the ring that encrypted it. */
  ring_key_id: string;
  ciphertext: string;
  fingerprint: string;
  created_at: number;
};

export type WorkflowNameRow = { connection_id: string; workflow_id: string; name: string; is_masked: number };

export type SubmissionRow = {
  member_id: string;
  idempotency_key: string;
  content_hash: string;
  /** The service's answer as JSON; null while it is awaited, or if none came. */
  answer: string | null;
  failure_code: string | null;
  failure_message: string | null;
  created_at: number;
};

/** `choice`: JSON. */
export type ArchiveRow = { id: string; member_id: string; connection_id: string; choice: string; created_at: number };

/** `label` is empty for a rerun without one. */
export type JobLabelRow = { connection_id: string; job_id: string; label: string; rerun_of: string | null; created_at: number };

export type DownloadTaskRow = {
  id: string;
  connection_id: string;
  /** Null: the member who started it is gone. */
  member_id: string | null;
  /** The service's own id of the task. */
  task_id: string;
  /** The address without its query. */
  source: string;
  /** The key of the ring that encrypted the request. */
  ring_key_id: string;
  sealed_request: string;
  state: string;
  word: string;
  bytes_done: number | null;
  bytes_total: number | null;
  share: number | null;
  asset_id: string | null;
  file_name: string | null;
  reason: string | null;
  can_cancel: number;
  created_at: number;
  checked_at: number;
  ended_at: number | null;
};

export type AuditRow = {
  id: number;
  at: number;
  request_id: string;
  member_id: string | null;
  member_name: string | null;
  action: string;
  connection_id: string | null;
  target: string | null;
  status: number;
  code: string | null;
  outcome: string | null;
  /** Joins the entries of one act on many things. */
  act_id: string | null;
  /** The member's credential that was used, such as "token NAME"; null: the member themselves. */
  via: string | null;
  /** Null: no member, or written before addresses were recorded. */
  member_email: string | null;
  hash: string;
};

/** One row: number and hash of the last entry written. */
type AuditEndRow = { id: number; hash: string };

export type SavedViewRow = {
  id: string;
  /** Null: the team's. */
  member_id: string | null;
  /** The list that the view is for. */
  screen: string;
  name: string;
  query: string;
  created_at: number;
};

export type LedgerConnectionRow = {
  number: Generated<number>;
  connection_id: string;
  /** All jobs submitted up to this time are known, back to `cursor_ms`; null if nothing was read yet. */
  newest_ms: number | null;
  /** How far back the list was read in this round. */
  cursor_ms: number | null;
  /** The offset where reading continues; null if this round is over. */
  next_offset: number | null;
  /** A round has reached the end of the list. */
  is_complete: Generated<number>;
  /** Older jobs were left out, because the ledger is full. */
  is_bounded: Generated<number>;
  swept_at: number | null;
  jobs: Generated<number>;
};

export type LedgerJobRow = {
  /** Larger than a double holds: never read as a number. */
  key: bigint;
  number: number;
  job_id: string;
  /** The time in the key is the service's own, to the millisecond. */
  is_exact: number;
  member_id: string | null;
  run_ms: number | null;
  /** Kinds of its outputs, separated by commas. */
  kinds: string;
  /** A list item as JSON; secrets are masked. */
  item: string;
  /** The texts of its inputs; null if they have not been read. */
  inputs: string | null;
};

/** Members who see the jobs of another member's own connection. */
export type JobViewerRow = { connection_id: string; member_id: string; given_by: string; given_at: number };

export type JobUsageRow = {
  connection_id: string;
  job_id: string;
  member_id: string;
  /** When it was submitted. */
  at: number;
  /** The state in the service's last words. */
  word: string;
  run_ms: number | null;
  outputs: number | null;
  /** Bytes of all its outputs; null if unknown. */
  bytes: number | null;
  /** 1: the service was asked for the size. */
  is_sized: Generated<number>;
  /** The name of the token that submitted the job. */
  token: string | null;
};

export type ShareRow = {
  id: string;
  token_hash: string;
  member_id: string;
  connection_id: string;
  base_url: string;
  job_id: string | null;
  title: string;
  password_hash: string | null;
  keeps_metadata: number;
  shows_maker: number;
  shows_workflow: number;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  views: Generated<number>;
  downloads: Generated<number>;
  /** Passwords tried since `attempts_since`. */
  attempts: Generated<number>;
  attempts_since: Generated<number>;
};

/** `item`: JSON. `pieces`: JSON of what remains of the file without its metadata; null before it was cleaned. */
export type ShareItemRow = { share_id: string; number: number; item: string; pieces: string | null };

export type EmbedHostRow = {
  id: string;
  name: string;
  /** JSON. */
  origins: string;
  /** Null: all connections that a member may use. */
  connection_id: string | null;
  role: string;
  /** JSON. */
  pages: string;
  guests: number;
  /** Null: tickets are checked with the secret below. */
  jwks_url: string | null;
  ring_key_id: string | null;
  ciphertext: string | null;
  /** The previous secret, valid until `old_until`. */
  old_ring_key_id: string | null;
  old_ciphertext: string | null;
  old_until: number | null;
  /** The admin who last set it up; null if that was before this was stored. */
  kept_by: string | null;
  kept_by_name: string | null;
  /** Increased when every session of the host must end. */
  version: number;
  created_at: number;
  /** The time of the last refused ticket. */
  refused_at: number | null;
  refusal: string | null;
};

export type Tables = {
  identities: IdentityRow;
  provider_sessions: ProviderSessionRow;
  job_viewers: JobViewerRow;
  shown_files: { connection_id: string; file_hash: string; at: number };
  job_usage: JobUsageRow;
  shares: ShareRow;
  share_items: ShareItemRow;
  embed_hosts: EmbedHostRow;
  embed_tickets: { host_id: string; ticket_hash: string; expires_at: number };
  embed_sessions: EmbedSessionRow;
  ledger_connections: LedgerConnectionRow;
  ledger_jobs: LedgerJobRow;
  saved_views: SavedViewRow;
  opening_views: { member_id: string; screen: string; view_id: string };
  members: MemberRow;
  connections: ConnectionRow;
  api_keys: KeyRow;
  workflow_names: WorkflowNameRow;
  submissions: SubmissionRow;
  archives: ArchiveRow;
  download_tasks: DownloadTaskRow;
  job_labels: JobLabelRow;
  set_up_tokens: { token_hash: string; created_at: number };
  invitations: InvitationRow;
  sessions: SessionRow;
  /** Why a session ended, for pages that are still open with it. */
  ended_sessions: { id: string; cause: string; at: number };
  settings: { name: string; value: string };
  tokens: TokenRow;
  audit: AuditRow;
  audit_end: AuditEndRow;
  /** When a name's bucket of attempts is full again. */
  attempts: { name: string; full_at: number };
  apps: AppRow;
  app_members: { app_id: string; member_id: string };
  app_versions: AppVersionRow;
  app_favourites: { app_id: string; member_id: string };
  app_presets: AppPresetRow;
  app_files: AppFileRow;
  app_runs: AppRunRow;
};
