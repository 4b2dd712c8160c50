// `randomUUID` exists only on secure pages, and a console in a local network may not be one.

import { toUuid } from "@/lib/shared/text";

export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function newUuid(): string {
  return toUuid(newIdempotencyKey(), 4);
}
