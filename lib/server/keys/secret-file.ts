// A secret that is made once and read at each start.
// Guarantees: mode 0600 from the first byte on; if two processes make it at once, one wins and both read the same; nothing is overwritten.

import "server-only";
import { readFileSync, writeFileSync } from "node:fs";
import { codeOf } from "@/lib/shared/error-codes";

export function readOrMakeSecretFile(path: string, make: () => string): string {
  try {
    writeFileSync(path, `${make()}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
  const text = readFileSync(path, "utf8").trim();
  if (text === "") throw new Error(`${path} is empty: remove it, or put back the one from your backup`);
  return text;
}

function isExisting(error: unknown): boolean {
  return codeOf(error) === "EEXIST";
}
