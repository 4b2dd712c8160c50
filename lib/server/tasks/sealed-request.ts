// The request of a download, stored sealed for retries: its URL may contain a token. Also bundled for commands.

import "server-only";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { downloadBodySchema } from "@/lib/contract/schemas/asset";
import { type KeyRing, seal, type SealedRows, unseal } from "../keys/key-ring";
import { type Sealed } from "../store/connections";
import { type DownloadTaskStore, type SealedDownload } from "../store/download-tasks";

export type DownloadBody = z.output<typeof downloadBodySchema>;

const recordOf = (id: string) => `download_tasks/${id}`;

export function sealRequest(ring: KeyRing, id: string, body: DownloadBody): Sealed {
  return seal(ring, recordOf(id), writeExactJson(body));
}

export function openRequest(ring: KeyRing, stored: SealedDownload): DownloadBody | undefined {
  const text = unseal(ring, recordOf(stored.id), sealedOf(stored));
  return text === undefined ? undefined : downloadBodySchema.safeParse(parseJson(text)).data;
}

export function sealedRequests(downloads: Pick<DownloadTaskStore, "listSealed" | "reseal">): SealedRows<SealedDownload> {
  return {
    list: () => downloads.listSealed(),
    recordOf: ({ id }) => recordOf(id),
    sealedOf,
    reseal: (stored, after) => downloads.reseal(stored, after),
  };
}

function sealedOf({ ringKeyId: ringKeyId, sealedRequest: ciphertext }: SealedDownload): Sealed {
  return { ringKeyId, ciphertext };
}
