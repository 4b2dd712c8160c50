// The beginning of a stored file as text, if it is text.
// Guarantees: reads at most a quarter of a megabyte, however large the file is; never throws.

import { announceAnswer } from "@/lib/browser/api";
import { readFirstBytes } from "@/lib/browser/files/byte-source";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { apiPath } from "@/lib/browser/urls";
import { ok, type Result } from "@/lib/shared/result";
import { fileApiPath } from "./files-address";

export const MAX_TEXT_BYTES = 256 * 1024;

export type TextOfFile = { kind: "text"; text: string; isWhole: boolean } | { kind: "bytes" };

export async function readText(path: string, connection: string | undefined): Promise<Result<TextOfFile, ApiFailure>> {
  const address = fileApiPath(path, { connection });
  const read = await readFirstBytes(apiPath(address), MAX_TEXT_BYTES);
  if (read.ok) return ok(toText(read.value.bytes, read.value.isWhole));
  announceAnswer({ path: address, method: "GET", status: read.failure.status, failure: read.failure });
  return read;
}

/** Text contains no NUL and is valid UTF-8; a character cut in two at the limit is allowed. */
export function toText(bytes: Uint8Array, isWhole: boolean): TextOfFile {
  if (bytes.includes(0)) return { kind: "bytes" };
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole }), isWhole };
  } catch {
    return { kind: "bytes" };
  }
}
