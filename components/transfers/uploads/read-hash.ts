/** A hash as a person copied it, in the interface's spelling; undefined for what is none. */
export function readHash(text: string): string | undefined {
  const found = /^(?:(blake3|sha256):)?([0-9a-f]{64})$/.exec(text.trim().toLowerCase());
  return found ? `${found[1] ?? "blake3"}:${found[2]}` : undefined;
}
