// Asks for an asset of content that the service may have, by its hash alone.
// Guarantees: a hash that the service does not know is `undefined` and no failure, so that a browser logs no error for each new file.

import { ok, type Result } from "@/lib/shared/result";
import { callApi } from "./api";
import { type ApiFailure } from "./read-failure";
import { withQuery } from "./urls";

/** In the interface's own words. */
export type HashOffer = {
  hash: string;
  tags: readonly string[];
  name?: string;
  mime_type?: string;
  user_metadata?: Readonly<Record<string, unknown>>;
};

export async function offerHash<T>(
  offer: HashOffer,
  { connection, signal }: { connection?: string; signal?: AbortSignal },
): Promise<Result<T | undefined, ApiFailure>> {
  const path = withQuery("/api/console/known-content", { connection });
  const answer = await callApi<{ asset?: T | null }>(path, { method: "POST", json: offer, signal, cache: "no-store" });
  return answer.ok ? ok(answer.value?.asset ?? undefined) : answer;
}

/** As many of the newest as are looked through for what may just have been made. */
const NEWEST = 50;

/** After an offer without a clear answer: the asset that has come of it, null where none has, undefined where nobody can say. */
export async function findOffered<T extends { asset_hash?: string }>(
  { hash, name }: HashOffer,
  { connection }: { connection?: string },
): Promise<T | null | undefined> {
  const path = withQuery("/api/assets", { sort: "created_at", order: "desc", limit: NEWEST, connection });
  const answer = await callApi<{ assets?: (T & { name?: string })[] }>(path, { cache: "no-store" });
  if (!answer.ok || !answer.value.assets) return undefined;
  const { assets } = answer.value;
  const found = assets.find((asset) => asset.asset_hash === hash && (name === undefined || asset.name === name));
  // Where the service names content by another kind of hash, or by none, nothing follows from its absence.
  const isComparable = assets.every(({ asset_hash: theirs = "" }) => theirs.split(":")[0] === hash.split(":")[0]);
  return found ?? (isComparable ? null : undefined);
}
