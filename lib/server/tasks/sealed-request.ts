// What a download was asked with, kept sealed for asking once more: its address may carry a token.
// Guarantees: opens for its own record only; undefined where the ring has lost the key.

import "server-only";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/exact-json";
import { parseJson } from "@/lib/contract/json";
import { downloadBodySchema } from "@/lib/contract/schemas/asset";
import { seal, type Sealed, unseal } from "../keys/cipher";
import { type KeyRing } from "../keys/key-ring";
import { type StoredDownload } from "../store/download-tasks";

export type DownloadBody = z.output<typeof downloadBodySchema>;

const recordOf = (id: string) => `download_tasks/${id}`;

export function sealRequest(ring: KeyRing, id: string, body: DownloadBody): Sealed {
  return seal(ring, recordOf(id), writeExactJson(body));
}

export function openRequest(
  ring: KeyRing,
  { id, ring_key_id: ringKeyId, sealed_request: ciphertext }: StoredDownload,
): DownloadBody | undefined {
  const text = unseal(ring, recordOf(id), { ringKeyId, ciphertext });
  return text === undefined ? undefined : downloadBodySchema.safeParse(parseJson(text)).data;
}
