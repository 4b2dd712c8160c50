import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type ApiFailure, toFailure } from "../api-failure";
import { parseFailureResponse } from "../parse-response";

type ByteRangeResult = { bytes: Uint8Array<ArrayBuffer>; isComplete: boolean; size?: number };

export async function readBytes(src: string, maxBytes: number, offset = 0): Promise<Result<ByteRangeResult, ApiFailure>> {
  try {
    // Requests one byte more than needed, to detect longer files.
    const response = await fetch(src, { headers: { range: `bytes=${offset}-${offset + maxBytes}` } });
    if (response.status === 416) return ok({ bytes: new Uint8Array(), isComplete: true });
    if (!response.ok) return failed(parseFailureResponse(response.status, response.headers.get("retry-after"), await response.text()));
    if (offset > 0 && response.status !== 206) {
      await response.body?.cancel();
      return failed({ code: "UPSTREAM_UNREADABLE", message: "", status: 502 });
    }
    const size = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
    return ok({ ...(await readBody(response, maxBytes)), ...(response.status === 206 && size !== undefined && { size: Number(size) }) });
  } catch (cause) {
    return failed(toFailure(cause));
  }
}

async function readBody({ body }: Response, maxBytes: number): Promise<ByteRangeResult> {
  const reader = body?.getReader();
  const bytes = new Uint8Array(maxBytes);
  for (let filledBytes = 0; ;) {
    const { done, value = new Uint8Array() } = (await reader?.read()) ?? { done: true };
    if (done) return { bytes: bytes.subarray(0, filledBytes), isComplete: true };
    bytes.set(value.subarray(0, maxBytes - filledBytes), filledBytes);
    if (filledBytes + value.length > maxBytes) {
      await reader?.cancel();
      return { bytes, isComplete: false };
    }
    filledBytes += value.length;
  }
}

export type ByteSource = {
  size: number;
  /** Throws `RangeReadError` if a request fails, or the browser's error if a local file was moved or locked. */
  read: (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>;
  text: () => Promise<string>;
};

export class RangeReadError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

export function createBlobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (from, to) => new Uint8Array(await blob.slice(from, to).arrayBuffer()),
    text: () => blob.text(),
  };
}

const INITIAL_READ_BYTES = 256 * 1024;
const MAX_BYTES_WITHOUT_RANGES = 24 * 1024 ** 2;

export async function openByteSource(src: string): Promise<Result<ByteSource, ApiFailure>> {
  const initialResult = await readBytes(src, INITIAL_READ_BYTES);
  if (!initialResult.ok) return initialResult;
  const { bytes, isComplete, size } = initialResult.value;
  if (isComplete) return ok(createBlobSource(new Blob([bytes])));
  if (size === undefined) {
    const fullResult = await readBytes(src, MAX_BYTES_WITHOUT_RANGES);
    return fullResult.ok ? ok(createBlobSource(new Blob([fullResult.value.bytes]))) : fullResult;
  }
  const readRange = async (from: number, to: number) => {
    if (to <= bytes.length) return bytes.slice(from, to);
    const rangeResult = await readBytes(src, to - from, from);
    if (!rangeResult.ok) throw new RangeReadError(rangeResult.failure);
    return rangeResult.value.bytes;
  };
  return ok({ size, read: readRange, text: async () => new TextDecoder().decode(await readRange(0, size)) });
}

const MAX_EXCERPT_BYTES = 64 * 1024;
export type TextExcerpt = { text: string; isComplete: boolean };

export async function readTextExcerpt(src: string): Promise<Result<TextExcerpt, ApiFailure>> {
  const result = await readBytes(src, MAX_EXCERPT_BYTES);
  if (!result.ok) return result;
  const { bytes, isComplete } = result.value;
  return ok({ text: new TextDecoder().decode(bytes, { stream: !isComplete }), isComplete });
}
