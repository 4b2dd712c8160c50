// Generates version 7 UUIDs, which increase within a process so that outputs keep their order. Don't use them as secrets.

import { randomBytes } from "node:crypto";

const COUNTS_PER_MS = 2 ** 12;
let lastId = { ms: 0, count: 0 };

export function generateId(): string {
  const now = Date.now();
  // If the clock doesn't advance, the counter continues. If the counter overflows, ids use the next millisecond.
  if (now > lastId.ms) lastId = { ms: now, count: 0 };
  else lastId = lastId.count + 1 < COUNTS_PER_MS ? { ms: lastId.ms, count: lastId.count + 1 } : { ms: lastId.ms + 1, count: 0 };
  const time = lastId.ms.toString(16).padStart(12, "0");
  const count = lastId.count.toString(16).padStart(3, "0");
  const random = randomBytes(8);
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
  const randomHex = random.toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${randomHex.slice(0, 4)}-${randomHex.slice(4)}`;
}
