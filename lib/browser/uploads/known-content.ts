// Content that a service may have already: this page hashes it and offers the hash before a byte is sent.
// Guarantees: known only if the service returns exactly the hash that was made here. Anything that goes wrong counts as "not known": the
// caller then sends the file, and learns from that what is wrong.
// Must never: send the bytes.

import { hashPool } from "./hash-pool";
import { offerHash } from "./offer-hash";

type Offer = { tags: readonly string[]; connection: string | undefined; signal: AbortSignal };

/** The file's BLAKE3 in bare hexadecimal digits, once the service has made an asset from it; undefined if it has not. */
export async function findKnownContent(file: File, { tags, connection, signal }: Offer): Promise<string | undefined> {
  const outcome = await hashPool(file, { signal });
  if (outcome.kind !== "hashed" || signal.aborted) return undefined;
  const hash = `blake3:${outcome.hash}`;
  const offer = { hash, tags, name: file.name, ...(file.type && { mime_type: file.type }) };
  const known = await offerHash<{ asset_hash?: string }>(offer, { connection, signal });
  return known.ok && known.value.kind === "made" && known.value.asset.asset_hash === hash ? outcome.hash : undefined;
}
