import { toMilliseconds } from "@/lib/contract/times";
import { couldHaveStarted } from "@/lib/contract/workflow/submission";
import { ACT_HEADER } from "@/lib/shared/headers";
import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure } from "../read-failure";
import { withQuery } from "../urls";
import { hashPool } from "./hash-pool";

type HashOffer = {
  hash: string;
  tags: readonly string[];
  name?: string;
  mime_type?: string;
  user_metadata?: Readonly<Record<string, unknown>>;
};

type OfferResult<T> = { kind: "made"; asset: T } | { kind: "unknown" } | { kind: "notMade" | "unsure"; failure?: ApiFailure };

export async function offerHash<T extends { asset_hash?: string }>(
  offer: HashOffer,
  { connection, signal, act }: { connection?: string; signal?: AbortSignal; act?: string },
): Promise<Result<OfferResult<T>, ApiFailure>> {
  const path = withQuery("/api/console/known-content", { connection });
  const startedMs = Date.now();
  const result = await callApi<{ asset?: T | null; isUnclear?: boolean }>(path, {
    method: "POST",
    json: offer,
    ...(act !== undefined && { headers: { [ACT_HEADER]: act } }),
    signal,
    cache: "no-store",
  });
  if (result.ok && result.value.asset) return ok({ kind: "made", asset: result.value.asset });
  if (result.ok && !result.value.isUnclear) return ok({ kind: "unknown" });
  const failure = result.ok ? undefined : result.failure;
  const isRefused = failure && failure.status !== 0 && !couldHaveStarted(failure);
  if (!result.ok && (isRefused || signal?.aborted)) return result;
  const asset = await findOffered<T>(offer, { connection, startedMs });
  return ok(asset ? { kind: "made", asset } : { kind: asset === null ? "notMade" : "unsure", failure });
}

const MAX_LISTED = 50;
const CLOCK_SKEW_MS = 60_000;

type ListedAsset = { asset_hash?: string; name?: string; tags?: readonly string[]; created_at?: unknown; updated_at?: unknown };

/** The created asset. Null if none was created, undefined if the service cannot tell or already had the content. */
async function findOffered<T extends { asset_hash?: string }>(
  { hash, name, tags }: HashOffer,
  { connection, startedMs }: { connection: string | undefined; startedMs: number },
): Promise<T | null | undefined> {
  const path = withQuery("/api/assets", { sort: "updated_at", order: "desc", limit: MAX_LISTED, connection });
  const result = await callApi<{ assets?: (T & ListedAsset)[] }>(path, { cache: "no-store" });
  if (!result.ok || !result.value.assets) return undefined;
  const { assets } = result.value;
  const sameContent = assets.filter((asset) => asset.asset_hash === hash);
  const isNew = ({ created_at: created, updated_at: updated }: ListedAsset) =>
    Math.max(toMilliseconds(created) ?? 0, toMilliseconds(updated) ?? 0) > startedMs - CLOCK_SKEW_MS;
  const isOurs = (asset: ListedAsset) => (name === undefined || asset.name === name) && tags.every((tag) => asset.tags?.includes(tag));
  const ownAsset = sameContent.find((asset) => isOurs(asset) && isNew(asset));
  // If the service uses another kind of hash or none, a missing hash proves nothing.
  const isComparable = assets.every(({ asset_hash: theirs = "" }) => theirs.split(":")[0] === hash.split(":")[0]);
  return ownAsset ?? (isComparable && sameContent.length === 0 ? null : undefined);
}

type Offer = { tags: readonly string[]; connection: string | undefined; signal: AbortSignal };

export async function findStoredContent(file: File, { tags, connection, signal }: Offer): Promise<string | undefined> {
  const outcome = await hashPool(file, { signal });
  if (outcome.kind !== "hashed" || signal.aborted) return undefined;
  const hash = `blake3:${outcome.hash}`;
  const offer = { hash, tags, name: file.name, ...(file.type && { mime_type: file.type }) };
  const offered = await offerHash<{ asset_hash?: string }>(offer, { connection, signal });
  return offered.ok && offered.value.kind === "made" && offered.value.asset.asset_hash === hash ? outcome.hash : undefined;
}
