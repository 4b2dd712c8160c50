// The rows of members and of every way in: sessions, invitations, tokens, identities at providers. Times are milliseconds since 1970.
// Must never: hold a password or a token in plain text: only ciphertext, argon2 hashes and SHA-256 hashes.

import "server-only";

export type MemberRow = {
  id: string;
  name: string;
  email: string;
  role: string;
  /** Empty: no password; the member signs in at a provider. */
  password_hash: string;
  /** When the password was set by a command-line link, or at the set-up; otherwise null. */
  password_reset_at: number | null;
  disabled: number;
  /** Increased when every session of the member must end. */
  session_version: number;
  last_connection_id: string | null;
  created_at: number;
  /** Null: a member. Otherwise a guest of that host page, who can sign in only with its tickets. */
  guest_of: string | null;
  /** The time of the guest's last ticket. */
  guest_seen_at: number | null;
  /** When one of the member's sessions was last used. Null: never. */
  seen_at: number | null;
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
export type ProviderSessionRow = { session_id: string; provider: string; sealed_hint: string | null };

export type SessionRow = {
  id: string;
  member_id: string;
  /** The member's `session_version` at the sign-in. */
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
  /** Null: made before this was stored. */
  created_at: number | null;
  withdrawn_at: number | null;
  /** Null: makes a member. Otherwise it gives that member a new password. */
  resets_member_id: string | null;
};

export type TokenRow = {
  id: string;
  member_id: string;
  token_hash: string;
  name: string;
  role: string;
  /** The connection for requests that name none. */
  connection_id: string;
  /** A list of ids as JSON; null: all that the member may use. */
  connections: string | null;
  /** JSON: all, reads, or a list of names. */
  operations: string;
  created_at: number;
  /** Null: never. */
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
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
  /** JSON. */
  pages: string;
  theme: string | null;
  language: string | null;
  expires_at: number;
};
