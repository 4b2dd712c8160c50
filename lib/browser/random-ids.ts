// Unique ids. `randomUUID` exists only on secure pages, and a console in a local network may not be one.
// Guarantees: the bytes come from the browser's own source of random numbers.

/** For one submission, for which the console starts one job at most: 128 random bits. */
export function newIdempotencyKey(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

/** A UUID of version 4. */
export function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = toHex(bytes);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
