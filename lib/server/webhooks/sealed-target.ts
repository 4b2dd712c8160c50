// A webhook's URL and signing secrets, stored encrypted, because a chat's URL is like a password. Also bundled for commands.

import "server-only";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type KeyRing, seal, unseal } from "../keys/key-ring";
import { type Sealed, toSecretRecordId } from "../store/connections";
import { type Webhook } from "../store/webhooks";

const targetSchema = z.object({ url: z.string(), secret: z.string(), oldSecret: z.string().optional() });
export type WebhookTarget = z.output<typeof targetSchema>;

export function sealTarget(ring: KeyRing, id: string, target: WebhookTarget): Sealed {
  return seal(ring, toSecretRecordId("webhooks", id), writeExactJson(target));
}

/** Returns undefined if the key ring lacks the key. */
export function openTarget(ring: KeyRing, { id, sealed }: Pick<Webhook, "id" | "sealed">): WebhookTarget | undefined {
  const text = unseal(ring, toSecretRecordId("webhooks", id), sealed);
  return text === undefined ? undefined : targetSchema.safeParse(parseJson(text)).data;
}
