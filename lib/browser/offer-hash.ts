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
