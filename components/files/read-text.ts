// The beginning of a stored file as text, if it is text.
// Guarantees: no more than a quarter of a megabyte is taken in, however large the file is; never an exception.

import { type ApiFailure, failureOfThrown, readFailure } from "@/lib/browser/read-failure";
import { apiPath } from "@/lib/browser/urls";
import { failed, ok, type Result } from "@/lib/shared/result";
import { fileApiPath } from "./files-address";

export const MOST_TEXT_BYTES = 256 * 1024;

export type TextOfFile = { kind: "text"; text: string; isWhole: boolean } | { kind: "bytes" };

export async function readText(path: string, connection: string | undefined): Promise<Result<TextOfFile, ApiFailure>> {
  try {
    const headers = { range: `bytes=0-${MOST_TEXT_BYTES - 1}` };
    const answer = await fetch(apiPath(fileApiPath(path, { connection })), { headers, cache: "no-store" });
    if (answer.status === 416) return ok({ kind: "text", text: "", isWhole: true });
    if (!answer.ok) return failed(readFailure(answer.status, answer.headers.get("retry-after"), await answer.text()));
    const { bytes, isWhole } = await beginning(answer);
    return ok(toText(bytes, isWhole));
  } catch (cause) {
    return failed(failureOfThrown(cause));
  }
}

/** A service may not know ranges and send all of it: what is beyond the bound is not read. */
async function beginning(answer: Response): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = answer.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    chunks.push(read.value);
    size += read.value.byteLength;
    if (size >= MOST_TEXT_BYTES) break;
  }
  await reader?.cancel();
  const bytes = new Uint8Array(await new Blob(chunks.map((chunk) => chunk.slice())).arrayBuffer()).subarray(0, MOST_TEXT_BYTES);
  const total = Number(/\/(\d+)$/.exec(answer.headers.get("content-range") ?? "")?.[1] ?? Number.NaN);
  return { bytes, isWhole: Number.isNaN(total) ? size < MOST_TEXT_BYTES : total <= bytes.byteLength };
}

/** Text is what holds no NUL and is UTF-8; a letter cut in two at the bound is no fault of the file. */
export function toText(bytes: Uint8Array, isWhole: boolean): TextOfFile {
  if (bytes.includes(0)) return { kind: "bytes" };
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole }), isWhole };
  } catch {
    return { kind: "bytes" };
  }
}
