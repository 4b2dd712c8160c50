// An idempotency key for one submission: the console starts one job for it at most.
// Guarantees: 128 random bits as hex. `randomUUID` is there on secure pages only, and a console in a local network may have none.

export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
