// Content that a service may have already: its hash is made here and offered before a byte is sent.
// Guarantees: known only where the service names the very hash that was made here. Whatever goes wrong is "not known": whoever asked
// sends the file then, and hears what is wrong from that.
// Must never: send the bytes.

import { callApi } from "./api";
import { hashPool } from "./hash-pool";
import { withQuery } from "./urls";

type Offer = { tags: readonly string[]; connection: string | undefined; signal: AbortSignal };

/** The file's BLAKE3 in bare hexadecimal digits, once the service has made an asset of it. */
export async function findKnownContent(file: File, { tags, connection, signal }: Offer): Promise<string | undefined> {
  const outcome = await hashPool(file, { signal });
  if (outcome.kind !== "hashed" || signal.aborted) return undefined;
  const json = { hash: `blake3:${outcome.hash}`, tags, name: file.name, ...(file.type && { mime_type: file.type }) };
  const answer = await callApi<{ asset_hash?: string }>(withQuery("/api/assets/from-hash", { connection }), {
    method: "POST",
    json,
    signal,
    cache: "no-store",
  });
  return answer.ok && answer.value?.asset_hash === json.hash ? outcome.hash : undefined;
}
