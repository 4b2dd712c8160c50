// Unique ids. `randomUUID` exists only on secure pages, and a console in a local network may not be one.
// Guarantees: the bytes come from the browser's own source of random numbers.

import { toUuid } from "@/lib/shared/text";

/** For one submission, for which the console starts one job at most: 128 random bits. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A UUID of version 4. */
export function newUuid(): string {
  return toUuid(newIdempotencyKey(), 4);
}
