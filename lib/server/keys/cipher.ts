// AES-256-GCM for secrets at rest: iv (12 bytes), tag (16 bytes), ciphertext, in base64url.
// Guarantees: the ring key's id and the record's id are bound as associated data, so ciphertext that was moved to another record, or claims
// another key, does not open; nor does a changed one.
// Must never: return the ciphertext, or say why it did not open.

import "server-only";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Sealed } from "../store/keys";
import { type KeyRing } from "./key-ring";

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function seal(ring: KeyRing, recordId: string, plaintext: string): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", ring.writing.secret, iv);
  cipher.setAAD(associated(ring.writing.id, recordId));
  const sealed = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return { ringKeyId: ring.writing.id, ciphertext: Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url") };
}

/** Undefined if the ring lacks the key, or if anything was changed or moved. */
export function unseal(ring: KeyRing, recordId: string, sealed: Sealed): string | undefined {
  return unsealBy(ring, recordId, sealed)?.text;
}

/** `isNamed`: it was opened by the key that the ring has under the row's key id, and not by one that has another id now. */
export function unsealBy(ring: KeyRing, recordId: string, sealed: Sealed): { text: string; isNamed: boolean } | undefined {
  const bytes = Buffer.from(sealed.ciphertext, "base64url");
  if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
  const named = ring.readable.get(sealed.ringKeyId);
  for (const key of new Set([...(named ? [named] : []), ...ring.readable.values()])) {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(associated(sealed.ringKeyId, recordId));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
      return { text, isNamed: key === named };
    } catch {
      // Sealed by another key, or by none: try the next key.
    }
  }
  return undefined;
}

/** JSON keeps the two ids apart: an id that contains a separator cannot imitate another pair. */
function associated(ringKeyId: string, recordId: string): Buffer {
  return Buffer.from(writeExactJson([ringKeyId, recordId]));
}
