// A picture's bytes from the service, with progress.
// Guarantees: never throws; never reads more than the limit; aborting `signal` ends the transfer.

import { readFailure } from "@/lib/browser/read-answer";
import { type ApiFailure, failureOfThrown } from "@/lib/browser/read-failure";
import { pictureSizeOf } from "@/lib/shared/picture-size";
import { failed, ok, type Result } from "@/lib/shared/result";
import { MOST_BYTES, type TooLarge, tooLarge } from "./limits";

const HEADER_BYTES = 32;

export type FetchRefusal = { kind: "too-large"; why: TooLarge } | { kind: "failed"; failure: ApiFailure };
export type FetchOptions = { signal?: AbortSignal; /** 0 to 1, where the length is known. */ onProgress?: (share: number) => void };

/** `address`: as a page would request it, with the base path. */
export async function fetchFile(address: string, { signal, onProgress }: FetchOptions = {}): Promise<Result<Blob, FetchRefusal>> {
  const going = new AbortController();
  const stop = () => going.abort();
  signal?.addEventListener("abort", stop);
  try {
    const answer = await fetch(address, { signal: going.signal, credentials: "same-origin" });
    if (!answer.ok)
      return failed({ kind: "failed", failure: readFailure(answer.status, answer.headers.get("retry-after"), await answer.text()) });
    const announced = Number(answer.headers.get("content-length") ?? 0);
    const why = tooLarge({ bytes: announced });
    if (why) {
      going.abort();
      return failed({ kind: "too-large", why });
    }
    return await readBody(answer, announced, { stop, onProgress });
  } catch (cause) {
    return failed({ kind: "failed", failure: failureOfThrown(cause) });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

type Reading = { stop: () => void; onProgress?: (share: number) => void };

async function readBody(answer: Response, announced: number, { stop, onProgress }: Reading): Promise<Result<Blob, FetchRefusal>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let isMeasured = false;
  for (const reader = answer.body?.getReader(); reader;) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > MOST_BYTES) {
      stop();
      return failed({ kind: "too-large", why: { reason: "bytes", bytes } });
    }
    parts.push(value);
    // Read from the header, so that a picture that is too large is not loaded further.
    if (!isMeasured && bytes >= HEADER_BYTES) {
      isMeasured = true;
      const why = tooLarge((await pictureSizeOf(new Uint8Array(await new Blob(parts).arrayBuffer()))) ?? {});
      if (why) {
        stop();
        return failed({ kind: "too-large", why });
      }
    }
    if (announced > 0) onProgress?.(bytes / announced);
  }
  return ok(new Blob(parts, { type: answer.headers.get("content-type") ?? "" }));
}
