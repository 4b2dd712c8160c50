// The rows of members and of every way in: sessions, invitations, tokens, identities at providers. Times are milliseconds since 1970.
// Must never: hold a password or a token in plain text: only ciphertext, argon2 hashes and SHA-256 hashes.

import "server-only";

export type MemberRow = {
  id: string;
  name: string;
  email: string;
  role: string;
  /** Empty: no password; the member signs in at a provider. */
  passwordHash: string;
  /** When the password was set by a command-line link, or at the set-up; otherwise null. */
  passwordResetAt: number | null;
  disabled: number;
  /** Increased when every session of the member must end. */
  sessionVersion: number;
  lastConnectionId: string | null;
  createdAt: number;
  /** Null: a member. Otherwise a guest of that host page, who can sign in only with its tickets. */
  guestOf: string | null;
  /** The time of the guest's last ticket. */
  guestSeenAt: number | null;
  /** When one of the member's sessions was last used. Null: never. */
  seenAt: number | null;
};

export type IdentityRow = {
  issuer: string;
  subject: string;
  provider: string;
  /** Null: the member was removed. */
  memberId: string | null;
  createdAt: number;
  usedAt: number;
};

/** `sealed_hint`: the ID token, encrypted. */
export type ProviderSessionRow = { sessionId: string; provider: string; sealedHint: string | null };

export type SessionRow = {
  id: string;
  memberId: string;
  /** The member's `session_version` at the sign-in. */
  version: number;
  /** `password`, or the party that vouched for the member. */
  method: string;
  browser: string;
  address: string;
  createdAt: number;
  /** Accurate to a minute. */
  usedAt: number;
  /** When the member's identity was last proved. */
  confirmedAt: number;
};

export type InvitationRow = {
  id: string;
  tokenHash: string;
  email: string;
  role: string;
  invitedBy: string;
  expiresAt: number;
  acceptedAt: number | null;
  /** Null: made before this was stored. */
  createdAt: number | null;
  withdrawnAt: number | null;
  /** Null: makes a member. Otherwise it gives that member a new password. */
  resetsMemberId: string | null;
};

export type TokenRow = {
  id: string;
  memberId: string;
  tokenHash: string;
  name: string;
  role: string;
  /** The connection for requests that name none. */
  connectionId: string;
  /** A list of ids as JSON; null: all that the member may use. */
  connections: string | null;
  /** JSON: all, reads, or a list of names. */
  operations: string;
  createdAt: number;
  /** Null: never. */
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
};

export type EmbedSessionRow = {
  id: string;
  tokenHash: string;
  hostId: string;
  hostVersion: number;
  slot: string;
  origin: string;
  memberId: string;
  memberVersion: number;
  role: string;
  connectionId: string | null;
  /** JSON. */
  pages: string;
  theme: string | null;
  language: string | null;
  expiresAt: number;
};
