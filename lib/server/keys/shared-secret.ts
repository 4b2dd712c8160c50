// The secret that signs sessions, for consoles that share a database: stored there, sealed with the key ring.
// Guarantees: all consoles of a database have the same secret; a console whose ring does not open it does not start, and says why.
// Must never: be stored unencrypted.

import "server-only";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { EnvError } from "../env";
import { type Sealed } from "../store/keys";
import { type SettingStore } from "../store/settings";
import { type KeyRing, seal, type SealedRows, unseal } from "./key-ring";

const RECORD = "settings/authSecret";
const sealedSchema = z.object({ ringKeyId: z.string(), ciphertext: z.string() });

/** `own`: becomes the secret if this is the first console of the database. */
export async function openSharedSecret(settings: SettingStore, ring: KeyRing, own: string): Promise<string> {
  await settings.add("authSecret", writeExactJson(seal(ring, RECORD, own)));
  const kept = await readSealed(settings);
  const secret = kept && unseal(ring, RECORD, kept);
  if (secret === undefined)
    throw new EnvError(
      `This console has not the keys of the others on its database (${kept?.ringKeyId ?? "none"} is missing): give all of them the same LIGHTDESK_ENCRYPTION_KEYS.`,
    );
  return secret;
}

/** Undefined if there is none, or if the ring does not open it. */
export async function readSharedSecret(settings: SettingStore, ring: KeyRing): Promise<string | undefined> {
  const kept = await readSealed(settings);
  return kept && unseal(ring, RECORD, kept);
}

/** For resealing. */
export function sealedSecret(settings: SettingStore): SealedRows<Sealed> {
  return {
    async list() {
      const kept = await readSealed(settings);
      return kept ? [kept] : [];
    },
    recordOf: () => RECORD,
    sealedOf: (sealed) => sealed,
    reseal: (before, after) => settings.replace("authSecret", { before: writeExactJson(before), after: writeExactJson(after) }),
  };
}

async function readSealed(settings: SettingStore): Promise<Sealed | undefined> {
  const text = await settings.get("authSecret");
  return text === undefined ? undefined : sealedSchema.parse(JSON.parse(text));
}
