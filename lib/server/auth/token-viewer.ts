// The viewer of a personal access token: the member's rights, reduced to those of the token.
// Guarantees: a token that was revoked or has expired, or whose member was suspended or removed, is invalid at once; the role is the weaker
// of the member's and the token's.
// Must never: say which of these it was.

import "server-only";
import { type Role, weaker } from "@/lib/contract/people/roles";
import { looksLikeToken } from "@/lib/contract/people/sign-in";
import { composition } from "../composition";
import { type Token } from "../store/people/tokens";
import { operationsOf } from "./token-operations";

/** `connectionId`: the connection for requests that name none. */
export type TokenCredential = { kind: "token"; id: string; name: string; connectionId: string };
type TokenViewer = {
  memberId: string;
  name: string;
  email: string;
  role: Role;
  credential: TokenCredential;
  scope: { connections: readonly string[] | undefined; operations: readonly string[] };
};

export async function viewerByToken(text: string): Promise<TokenViewer | undefined> {
  const { store, now, log } = composition();
  const token = looksLikeToken(text) ? await store.tokens.find(text) : undefined;
  const viewer = token && (await toViewer(token));
  if (!viewer) return undefined;
  try {
    await store.tokens.noteUse(token, now());
  } catch (err) {
    // A full disk must not lock anyone out.
    log.warn({ err }, "the last use of a token was not written");
  }
  return viewer;
}

export async function viewerByTokenId(id: string): Promise<TokenViewer | undefined> {
  const token = await composition().store.tokens.get(id);
  return token && toViewer(token);
}

export function isOver({ revokedAt, expiresAt }: Token, now: number): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

async function toViewer(token: Token): Promise<TokenViewer | undefined> {
  const { store, now } = composition();
  if (isOver(token, now())) return undefined;
  const member = await store.members.get(token.memberId);
  if (!member || member.disabled) return undefined;
  return {
    memberId: member.id,
    name: member.name,
    email: member.email,
    role: weaker(member.role, token.role),
    credential: { kind: "token", id: token.id, name: token.name, connectionId: token.connectionId },
    scope: { connections: token.connectionIds, operations: operationsOf(token.operations) },
  };
}
