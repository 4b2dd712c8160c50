// UUIDs of version 7: increasing within a process, so that outputs keep their order. Not for secrets.

import { randomBytes } from "node:crypto";

const COUNTS = 2 ** 12;
let last = { at: 0, count: 0 };

export function newId(): string {
  const now = Date.now();
  // If the clock stops or goes back, counting continues; a millisecond that is full borrows from the next.
  if (now > last.at) last = { at: now, count: 0 };
  else last = last.count + 1 < COUNTS ? { at: last.at, count: last.count + 1 } : { at: last.at + 1, count: 0 };
  const time = last.at.toString(16).padStart(12, "0");
  const count = last.count.toString(16).padStart(3, "0");
  const random = randomBytes(8);
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
  const rest = random.toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${rest.slice(0, 4)}-${rest.slice(4)}`;
}
