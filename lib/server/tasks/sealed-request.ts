// The request of a download, stored encrypted for retries, because its URL may contain a token. Also bundled for commands.

import "server-only";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { downloadBodySchema } from "@/lib/contract/schemas/asset";
import { type KeyRing, seal, unseal } from "../keys/key-ring";
import { type Sealed, toSecretRecordId } from "../store/connections";
import { type StoredDownload } from "../store/download-tasks";

export type DownloadBody = z.output<typeof downloadBodySchema>;

export function sealRequest(ring: KeyRing, id: string, body: DownloadBody): Sealed {
  return seal(ring, toSecretRecordId("download_tasks", id), writeExactJson(body));
}

export function openRequest(ring: KeyRing, { id, ringKeyId, sealedRequest: ciphertext }: StoredDownload): DownloadBody | undefined {
  const text = unseal(ring, toSecretRecordId("download_tasks", id), { ringKeyId, ciphertext });
  return text === undefined ? undefined : downloadBodySchema.safeParse(parseJson(text)).data;
}
