// What a download was asked with, kept sealed for asking once more: its address may carry a token.
// Guarantees: opens for its own record only; undefined where the ring has lost the key.

import "server-only";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/exact-json";
import { parseJson } from "@/lib/contract/json";
import { downloadBodySchema } from "@/lib/contract/schemas/asset";
import { seal, type Sealed, unseal } from "../keys/cipher";
import { type KeyRing } from "../keys/key-ring";
import { type DownloadTaskStore, type SealedDownload } from "../store/download-tasks";

export type DownloadBody = z.output<typeof downloadBodySchema>;

const recordOf = (id: string) => `download_tasks/${id}`;

export function sealRequest(ring: KeyRing, id: string, body: DownloadBody): Sealed {
  return seal(ring, recordOf(id), writeExactJson(body));
}

export function openRequest(ring: KeyRing, stored: SealedDownload): DownloadBody | undefined {
  const text = open(ring, stored);
  return text === undefined ? undefined : downloadBodySchema.safeParse(parseJson(text)).data;
}

/** Seals every request again with the ring's writing key. Counts what it changed, and what the ring could not open. */
export async function rotateRequests(
  downloads: Pick<DownloadTaskStore, "listSealed" | "reseal">,
  ring: KeyRing,
): Promise<{ resealed: number; unreadable: number }> {
  let resealed = 0;
  let unreadable = 0;
  for (const stored of await downloads.listSealed()) {
    if (stored.ring_key_id === ring.writing.id) continue;
    const text = open(ring, stored);
    if (text === undefined) unreadable += 1;
    else if (await downloads.reseal(stored, seal(ring, recordOf(stored.id), text))) resealed += 1;
  }
  return { resealed, unreadable };
}

function open(ring: KeyRing, { id, ring_key_id: ringKeyId, sealed_request: ciphertext }: SealedDownload): string | undefined {
  return unseal(ring, recordOf(id), { ringKeyId, ciphertext });
}
