// Opens a share by its token. Checks creator, role, connection and expiry on each request. Visitors never see why a share is closed.

import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { type Access, openInBackground } from "../connections/access";
import { formatCookieAttributes, getCookieName, readCookie } from "../cookies";
import { type Share } from "../store/shares";

export const MIN_ROLE = "operator";
/** The same response for every link that doesn't open a share. */
export const shareNotFound = createFailure("NOT_FOUND", "This link does not work.");
/** For a visitor who may retry soon. */
export const tooManyShareRequests = {
  ...createFailure("SERVICE_UNAVAILABLE", "Too many requests for this share at once. Try again in a moment."),
  retryAfterMs: 5000,
};
export const shareLocked = createFailure("UNAUTHORIZED", "This share needs its password.");

export type OpenedShare = { share: Share; maker: string; access: Access };

export async function openShare(composition: Composition, token: string): Promise<OpenedShare | undefined> {
  const { store, env, now } = composition;
  if (!env.shares || !/^[A-Za-z0-9_-]{43}$/.test(token)) return undefined;
  const share = await store.shares.findByToken(token, now());
  const member = share && (await store.members.get(share.memberId));
  if (!share || !member || !hasRole(member.role, MIN_ROLE)) return undefined;
  const viewer: Viewer = {
    memberId: member.id,
    name: member.name,
    email: member.email,
    role: MIN_ROLE,
    credential: { kind: "share", id: share.id },
    scope: { connections: [share.connectionId], operations: [] },
  };
  const access = await openInBackground({ composition, viewer }, share.connectionId);
  return access.ok && access.value.connection.baseUrl === share.baseUrl ? { share, maker: member.name, access: access.value } : undefined;
}

export async function openUnlockedShare(
  composition: Composition,
  token: string,
  cookies: string | null,
): Promise<Result<OpenedShare, Failure>> {
  const openedShare = await openShare(composition, token);
  if (!openedShare) return failed(shareNotFound);
  return isUnlocked(composition, openedShare.share, cookies) ? ok(openedShare) : failed(shareLocked);
}

const UNLOCKED_SECONDS = 12 * 60 * 60;

export function isUnlocked(composition: Composition, share: Share, cookies: string | null): boolean {
  if (share.passwordHash === undefined) return true;
  const [expiry = "", proof = ""] = readCookie(cookies, getUnlockCookieName(composition, share))?.split(".") ?? [];
  const expectedProof = Buffer.from(createUnlockProof(composition, share, expiry));
  const proofBytes = Buffer.from(proof);
  return proofBytes.length === expectedProof.length && timingSafeEqual(proofBytes, expectedProof) && Number(expiry) > composition.now();
}

/** A cookie that unlocks this share in this browser for 12 hours. */
export function createUnlockCookie(composition: Composition, share: Share): string {
  const { env, now } = composition;
  const expiry = String(now() + UNLOCKED_SECONDS * 1000);
  return `${getUnlockCookieName(composition, share)}=${expiry}.${createUnlockProof(composition, share, expiry)}; ${formatCookieAttributes(env, UNLOCKED_SECONDS)}`;
}

function getUnlockCookieName({ env }: Dependencies<"env">, { id }: Share): string {
  return getCookieName(`lightdesk.share.${id}`, env);
}

function createUnlockProof({ authSecret }: Dependencies<"authSecret">, { id, passwordHash = "" }: Share, expiry: string): string {
  return createHmac("sha256", authSecret).update(["share", id, passwordHash, expiry].join("\n")).digest("base64url");
}
