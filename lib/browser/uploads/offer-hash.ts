// Asks for an asset of content that the service may have, by its hash alone.
// Guarantees: a hash that the service does not know is no failure, so that a browser logs no error for each new file; an offer without a
// clear answer is looked up among the newest assets. Must never: offer twice.

import { ACT_HEADER } from "@/lib/contract/audit/act-id";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { toMilliseconds } from "@/lib/contract/times";
import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure } from "../read-failure";
import { withQuery } from "../urls";

/** In the interface's own words. */
export type HashOffer = {
  hash: string;
  tags: readonly string[];
  name?: string;
  mime_type?: string;
  user_metadata?: Readonly<Record<string, unknown>>;
};

export type Offered<T> =
  | { kind: "made"; asset: T }
  /** The service has no such content. */
  | { kind: "unknown" }
  /** No clear answer came. `failure`: where none came at all. */
  | { kind: "notMade" | "unsure"; failure?: ApiFailure };

export async function offerHash<T extends { asset_hash?: string }>(
  offer: HashOffer,
  { connection, signal, act }: { connection?: string; signal?: AbortSignal; act?: string },
): Promise<Result<Offered<T>, ApiFailure>> {
  const path = withQuery("/api/console/known-content", { connection });
  const begunMs = Date.now();
  const answer = await callApi<{ asset?: T | null; isUnclear?: boolean }>(path, {
    method: "POST",
    json: offer,
    ...(act !== undefined && { headers: { [ACT_HEADER]: act } }),
    signal,
    cache: "no-store",
  });
  if (answer.ok && answer.value.asset) return ok({ kind: "made", asset: answer.value.asset });
  if (answer.ok && !answer.value.isUnclear) return ok({ kind: "unknown" });
  const failure = answer.ok ? undefined : answer.failure;
  const isRefused = failure && failure.status !== 0 && !mayHaveStarted(failure);
  if (!answer.ok && (isRefused || signal?.aborted)) return answer;
  const found = await findOffered<T>(offer, { connection, begunMs });
  return ok(found ? { kind: "made", asset: found } : { kind: found === null ? "notMade" : "unsure", failure });
}

/** As many of the newest as are looked through for what may just have been made. */
const NEWEST = 50;
/** Clocks differ. */
const CLOCKS_MS = 60_000;

type Listed = { asset_hash?: string; name?: string; tags?: readonly string[]; created_at?: unknown; updated_at?: unknown };

/** The asset that has come of it, null where none has, undefined where the service cannot tell, or has the content from before. */
async function findOffered<T extends { asset_hash?: string }>(
  { hash, name, tags }: HashOffer,
  { connection, begunMs }: { connection: string | undefined; begunMs: number },
): Promise<T | null | undefined> {
  const path = withQuery("/api/assets", { sort: "updated_at", order: "desc", limit: NEWEST, connection });
  const answer = await callApi<{ assets?: (T & Listed)[] }>(path, { cache: "no-store" });
  if (!answer.ok || !answer.value.assets) return undefined;
  const { assets } = answer.value;
  const same = assets.filter((asset) => asset.asset_hash === hash);
  const isFresh = ({ created_at: created, updated_at: updated }: Listed) =>
    Math.max(toMilliseconds(created) ?? 0, toMilliseconds(updated) ?? 0) > begunMs - CLOCKS_MS;
  const isOurs = (asset: Listed) => (name === undefined || asset.name === name) && tags.every((tag) => asset.tags?.includes(tag));
  const found = same.find((asset) => isOurs(asset) && isFresh(asset));
  // Where the service names content by another kind of hash, or by none, nothing follows from its absence.
  const isComparable = assets.every(({ asset_hash: theirs = "" }) => theirs.split(":")[0] === hash.split(":")[0]);
  return found ?? (isComparable && same.length === 0 ? null : undefined);
}
