// How fast this browser hashes and how fast this line sends, measured while files are on their way; and what follows for the next file.
// Guarantees: nothing is guessed: until both were measured a file is hashed first, and from then on the slower way is not taken for its own sake.
// Must never: count what was too short to measure.

/** Bytes a millisecond; undefined: not measured yet. */
export type Speeds = { readonly hash?: number; readonly send?: number };

const LEAST_BYTES = 4 * 1024 * 1024;
const LEAST_MS = 20;
/** A measurement counts this much against all before it: a line changes. */
const WEIGHT = 0.4;
/** So long a hash costs little, and it tells whether the bytes arrived unchanged. */
const FREE_MS = 1_000;

export function withSample(speeds: Speeds, what: keyof Speeds, { bytes, ms }: { bytes: number; ms: number }): Speeds {
  if (bytes < LEAST_BYTES || ms < LEAST_MS) return speeds;
  const now = bytes / ms;
  const before = speeds[what];
  return { ...speeds, [what]: before === undefined ? now : before + (now - before) * WEIGHT };
}

/** Whether hashing first may save time: it never does where sending the whole file is the quicker of the two. */
export function isWorthHashing(bytes: number, { hash, send }: Speeds): boolean {
  if (hash === undefined || send === undefined) return true;
  return bytes / hash <= FREE_MS || hash > send;
}

/** The size from which on files are sent at once; undefined where none is. */
export function hashFirstUpTo({ hash, send }: Speeds): number | undefined {
  return hash === undefined || send === undefined || hash > send ? undefined : Math.round(hash * FREE_MS);
}
