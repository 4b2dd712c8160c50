// The console's tables as types. Times are milliseconds since 1970; booleans are 0 or 1 in SQLite and in PostgreSQL alike.
// Must never: hold a key, a password or a token in the clear: only ciphertext, argon2 hashes and SHA-256 hashes.

import "server-only";
import { type Generated } from "kysely";
import { type AppFileRow, type AppPresetRow, type AppRow, type AppRunRow, type AppVersionRow } from "./apps/app-rows";

export type MemberRow = {
  id: string;
  name: string;
  email: string;
  role: string;
  /** Empty: has none, and signs in at a provider. */
  password_hash: string;
  /** When it was set by a link of the command line, or at the set-up; null for all others. */
  password_reset_at: number | null;
  disabled: number;
  /** Counts up when every session of the member must end. */
  session_version: number;
  last_connection_id: string | null;
  created_at: number;
  /** Null: a member. Otherwise a guest of that host page, whom only its tickets let in. */
  guest_of: string | null;
  /** Of the guest's last ticket. */
  guest_seen_at: number | null;
};

export type ConnectionRow = {
  id: string;
  name: string;
  base_url: string;
  account_url: string | null;
  /** Null: shared by the team. */
  member_id: string | null;
  status: string;
  dialect: string;
  /** 0: a local server that was started without them. */
  has_assets: number;
  created_at: number;
};

export type KeyRow = {
  id: string;
  connection_id: string;
  /** Which key of the ring encrypted it. */
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
  /** The service's answer, as JSON; null while it is awaited, and where none came. */
  answer: string | null;
  failure_code: string | null;
  failure_message: string | null;
  created_at: number;
};

/** `choice`: as JSON. */
export type ArchiveRow = { id: string; member_id: string; connection_id: string; choice: string; created_at: number };

export type JobLabelRow = { connection_id: string; job_id: string; label: string; created_at: number };

export type DownloadTaskRow = {
  id: string;
  connection_id: string;
  /** Null: whoever started it is gone. */
  member_id: string | null;
  /** The service's own id of it. */
  task_id: string;
  /** Without its query. */
  source: string;
  /** Which key of the ring encrypted the request. */
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

export type SessionRow = {
  id: string;
  member_id: string;
  /** `session_version` of the member at the sign-in. */
  version: number;
  method: string;
  browser: string;
  address: string;
  created_at: number;
  used_at: number;
  confirmed_at: number;
};

export type InvitationRow = {
  id: string;
  token_hash: string;
  email: string;
  role: string;
  invited_by: string;
  expires_at: number;
  accepted_at: number | null;
  /** Null: from before this was kept. */
  created_at: number | null;
  withdrawn_at: number | null;
  /** Null: it makes a member. Otherwise it gives that one a new password. */
  resets_member_id: string | null;
};

export type TokenRow = {
  id: string;
  member_id: string;
  token_hash: string;
  name: string;
  role: string;
  /** Meant where a request names none. */
  connection_id: string;
  /** A list of ids as JSON; null: all that the member may use. */
  connections: string | null;
  /** As JSON: all, reads, or a list of names. */
  operations: string;
  created_at: number;
  /** Null: never. */
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
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
  /** One act on many things. */
  act_id: string | null;
  /** By what of the member's it was done, as "token NAME"; null: by themselves. */
  via: string | null;
  hash: string;
};

/** One row: the number and the hash of the last entry that was written. */
type AuditEndRow = { id: number; hash: string };

export type SavedViewRow = {
  id: string;
  /** Null: of the team. */
  member_id: string | null;
  /** Of which list. */
  screen: string;
  name: string;
  query: string;
  created_at: number;
};

export type LedgerConnectionRow = {
  number: Generated<number>;
  connection_id: string;
  /** What was submitted until then is known, back to `cursor_ms`; null where nothing was read. */
  newest_ms: number | null;
  /** How far back the list was read in this round. */
  cursor_ms: number | null;
  /** Where the list is read on; null where this round is over. */
  next_offset: number | null;
  /** A round has come to the end of the list. */
  is_complete: Generated<number>;
  /** Older jobs were left out, since the ledger is full. */
  is_bounded: Generated<number>;
  swept_at: number | null;
  jobs: Generated<number>;
};

export type LedgerJobRow = {
  /** Beyond what a double holds: never read as a number. */
  key: bigint;
  number: number;
  job_id: string;
  /** The time in the key is the service's own, to the millisecond. */
  is_exact: number;
  member_id: string | null;
  run_ms: number | null;
  /** Of what it put out, separated by commas. */
  kinds: string;
  /** A list item, as JSON; secrets are masked. */
  item: string;
  /** The texts of its inputs; null where they have not been read. */
  inputs: string | null;
};

export type IdentityRow = {
  issuer: string;
  subject: string;
  provider: string;
  /** Null: the member was removed. */
  member_id: string | null;
  created_at: number;
  used_at: number;
};

/** `sealed_hint`: the ID token, encrypted. */
type ProviderSessionRow = { session_id: string; provider: string; sealed_hint: string | null };

/** Who sees the jobs of a member's own connection. */
export type JobViewerRow = { connection_id: string; member_id: string; given_by: string; given_at: number };

export type JobUsageRow = {
  connection_id: string;
  job_id: string;
  member_id: string;
  /** When it was submitted. */
  at: number;
  /** The state, as its service worded it last. */
  word: string;
  run_ms: number | null;
  outputs: number | null;
  /** Of all its outputs; null where it is not known. */
  bytes: number | null;
  /** 1: the service was asked how large they are. */
  is_sized: Generated<number>;
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
  /** Passwords that were tried since then. */
  attempts: Generated<number>;
  attempts_since: Generated<number>;
};

/** `item` as JSON; `pieces` too: what is left of the file without its metadata, null before it was looked at. */
export type ShareItemRow = { share_id: string; number: number; item: string; pieces: string | null };

export type EmbedHostRow = {
  id: string;
  name: string;
  /** As JSON. */
  origins: string;
  /** Null: all that a member may use. */
  connection_id: string | null;
  role: string;
  /** As JSON. */
  pages: string;
  guests: number;
  /** Null: the secret below. */
  jwks_url: string | null;
  ring_key_id: string | null;
  ciphertext: string | null;
  /** The secret before, which is good until then. */
  old_ring_key_id: string | null;
  old_ciphertext: string | null;
  old_until: number | null;
  /** Who set it up last; null where that was before it was noted. */
  kept_by: string | null;
  kept_by_name: string | null;
  /** Counts up when every session of the host must end. */
  version: number;
  created_at: number;
  /** Of the last ticket that was not taken. */
  refused_at: number | null;
  refusal: string | null;
};

export type EmbedSessionRow = {
  id: string;
  token_hash: string;
  host_id: string;
  host_version: number;
  slot: string;
  origin: string;
  member_id: string;
  member_version: number;
  role: string;
  connection_id: string | null;
  /** As JSON. */
  pages: string;
  theme: string | null;
  language: string | null;
  expires_at: number;
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
  settings: { name: string; value: string };
  tokens: TokenRow;
  audit: AuditRow;
  audit_end: AuditEndRow;
  /** When what was tried under a name may be tried as often as at first. */
  attempts: { name: string; full_at: number };
  apps: AppRow;
  app_members: { app_id: string; member_id: string };
  app_versions: AppVersionRow;
  app_favourites: { app_id: string; member_id: string };
  app_presets: AppPresetRow;
  app_files: AppFileRow;
  app_runs: AppRunRow;
};
