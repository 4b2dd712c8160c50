// How fast this browser hashes and how fast it can send, measured while files are uploaded, and what to do with the next file.
// Guarantees: no guesses: until both are measured, a file is hashed first; from then on a slower way is never chosen without need.
// Must never: count a measurement that was too short.

/** In bytes per millisecond; undefined: not measured yet. */
export type Speeds = { readonly hash?: number; readonly send?: number };

const LEAST_BYTES = 4 * 1024 * 1024;
const LEAST_MS = 20;
/** The weight of a new measurement against all before it, since a line's speed changes. */
const WEIGHT = 0.4;
/** A hash that takes this long costs little, and it proves that the bytes arrived unchanged. */
const FREE_MS = 1_000;

export function withSample(speeds: Speeds, what: keyof Speeds, { bytes, ms }: { bytes: number; ms: number }): Speeds {
  if (bytes < LEAST_BYTES || ms < LEAST_MS) return speeds;
  const now = bytes / ms;
  const before = speeds[what];
  return { ...speeds, [what]: before === undefined ? now : before + (now - before) * WEIGHT };
}

/** Whether hashing first may save time: it never does if sending the whole file is quicker. */
export function isWorthHashing(bytes: number, { hash, send }: Speeds): boolean {
  if (hash === undefined || send === undefined) return true;
  return bytes / hash <= FREE_MS || hash > send;
}

/** Files above this size are sent at once; undefined if all are hashed first. */
export function hashFirstUpTo({ hash, send }: Speeds): number | undefined {
  return hash === undefined || send === undefined || hash > send ? undefined : Math.round(hash * FREE_MS);
}
