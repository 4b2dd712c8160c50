// The public page of a share, and the list of shares in the settings.

import "server-only";
import { formatMemberIdentity } from "@/lib/contract/audit/audit";
import { formatTargets } from "@/lib/contract/audit/audit-items";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { hasRole } from "@/lib/contract/members/roles";
import { type SharedPage, type ShareState, type ShareView } from "@/lib/contract/share";
import { getNetwork } from "@/lib/shared/ip-address";
import { type Context, type RequestHeaders } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { ADDRESS_HEADER } from "../limits/attempt-limit";
import { isUnlocked, MIN_ROLE, openShare } from "../shares/open-share";
import { type ListedShare, type ShareItem } from "../store/shares";

type Visit = { kind: "open"; page: SharedPage; hasPassword: boolean } | { kind: "locked" } | { kind: "none" };

/** Counts the visit and limits visits per address. The page itself is read with `readShare`, or sent from the cache. */
export async function visitShare(
  composition: Composition,
  token: string,
  headers: RequestHeaders,
): Promise<Visit | { kind: "tooMany"; waitMs: number }> {
  const { store, shareLimit, log } = composition;
  const waitMs = await shareLimit.consume(getNetwork(headers.get(ADDRESS_HEADER) ?? "unknown"));
  if (waitMs > 0) return { kind: "tooMany", waitMs };
  const { visit, id } = await findShare(composition, token, headers);
  if (id !== undefined) await store.shares.recordView(id).catch((err: unknown) => log.warn({ err }, "share view count failed"));
  return visit;
}

export async function readShare(composition: Composition, token: string, headers: RequestHeaders): Promise<Visit> {
  return (await findShare(composition, token, headers)).visit;
}

async function findShare(composition: Composition, token: string, headers: RequestHeaders): Promise<{ visit: Visit; id?: string }> {
  const { store } = composition;
  const openedShare = await openShare(composition, token);
  if (!openedShare) return { visit: { kind: "none" } };
  const { share, maker } = openedShare;
  if (!isUnlocked(composition, share, headers.get("cookie"))) return { visit: { kind: "locked" } };
  const items = await store.shares.listItems(share.id);
  const { title, expiresAt, keepsMetadata } = share;
  const page = {
    title,
    expiresAt,
    isCleaned: !keepsMetadata,
    hasWorkflow: share.showsWorkflow,
    ...(share.showsMaker && { maker }),
    items: items.map(({ number, item }) => ({ number, ...toItemView(item) })),
  };
  return { visit: { kind: "open", page, hasPassword: share.passwordHash !== undefined }, id: share.id };
}

function toItemView({ name, kind, size, hash, width, height, text }: ShareItem) {
  return { name, kind, size, hash, width, height, text };
}

export function areSharesEnabled({ env }: Dependencies<"env">): boolean {
  return env.shares;
}

export async function describeShare({ store }: Dependencies<"store">, id: string): Promise<{ target: string; outcome?: string }> {
  const share = (await store.shares.list()).find((listedShare) => listedShare.id === id);
  const member = share && (await store.members.get(share.memberId));
  if (!share || !member) return { target: id };
  const name = share.title === "" ? id : share.title;
  return { target: name, outcome: formatTargets([{ id, name }], writeExactJson({ of: formatMemberIdentity(member) })) };
}

export async function listShares({ composition: { store, now }, viewer }: Context): Promise<ShareView[]> {
  const shares = await store.shares.list(hasRole(viewer.role, "admin") ? undefined : viewer.memberId);
  const urlPromises = new Map<string, Promise<string | undefined>>();
  const canUseConnection = async ({ memberId, connectionId, baseUrl }: ListedShare) => {
    const key = `${memberId} ${connectionId}`;
    const urlPromise = urlPromises.get(key) ?? store.connections.getFor(memberId, connectionId).then((connection) => connection?.baseUrl);
    urlPromises.set(key, urlPromise);
    return (await urlPromise) === baseUrl;
  };
  return Promise.all(
    shares.map(async (share) => ({
      id: share.id,
      title: share.title,
      maker: share.maker,
      isOwn: share.memberId === viewer.memberId,
      connection: share.connection,
      ofJob: share.jobId !== undefined,
      count: share.count,
      state: getShareState(share, now(), await canUseConnection(share)),
      hasPassword: share.passwordHash !== undefined,
      keepsMetadata: share.keepsMetadata,
      showsWorkflow: share.showsWorkflow,
      createdAt: share.createdAt,
      expiresAt: share.expiresAt,
      views: share.views,
      downloads: share.downloads,
    })),
  );
}

function getShareState(
  { revokedAt, expiresAt, isSuspended, makerRole }: ListedShare,
  now: number,
  isConnectionUsable: boolean,
): ShareState {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt <= now) return "expired";
  return isSuspended || !isConnectionUsable || !hasRole(makerRole, MIN_ROLE) ? "closed" : "open";
}
