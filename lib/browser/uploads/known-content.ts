// Content that a service may have already: its hash is made here and offered before a byte is sent.
// Guarantees: known only where the service names the very hash that was made here. Whatever goes wrong is "not known": whoever asked
// sends the file then, and hears what is wrong from that.
// Must never: send the bytes.

import { hashPool } from "./hash-pool";
import { offerHash } from "./offer-hash";

type Offer = { tags: readonly string[]; connection: string | undefined; signal: AbortSignal };

/** The file's BLAKE3 in bare hexadecimal digits, once the service has made an asset of it. */
export async function findKnownContent(file: File, { tags, connection, signal }: Offer): Promise<string | undefined> {
  const outcome = await hashPool(file, { signal });
  if (outcome.kind !== "hashed" || signal.aborted) return undefined;
  const hash = `blake3:${outcome.hash}`;
  const offer = { hash, tags, name: file.name, ...(file.type && { mime_type: file.type }) };
  const known = await offerHash<{ asset_hash?: string }>(offer, { connection, signal });
  return known.ok && known.value.kind === "made" && known.value.asset.asset_hash === hash ? outcome.hash : undefined;
}
