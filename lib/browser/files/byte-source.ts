import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { readFailure } from "../read-answer";
import { type ApiFailure, toFailure } from "../read-failure";

type FirstBytesResult = { bytes: Uint8Array<ArrayBuffer>; isWhole: boolean; size?: number };

export async function readFirstBytes(src: string, maxBytes: number, from = 0): Promise<Result<FirstBytesResult, ApiFailure>> {
  try {
    // One byte more than needed, to detect longer files.
    const response = await fetch(src, { headers: { range: `bytes=${from}-${from + maxBytes}` } });
    if (response.status === 416) return ok({ bytes: new Uint8Array(), isWhole: true });
    if (!response.ok) return failed(readFailure(response.status, response.headers.get("retry-after"), await response.text()));
    if (from > 0 && response.status !== 206) {
      await response.body?.cancel();
      return failed({ code: "UPSTREAM_UNREADABLE", message: "", status: 502 });
    }
    const size = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
    return ok({ ...(await readUpTo(response, maxBytes)), ...(response.status === 206 && size !== undefined && { size: Number(size) }) });
  } catch (cause) {
    return failed(toFailure(cause));
  }
}

async function readUpTo({ body }: Response, maxBytes: number): Promise<FirstBytesResult> {
  const reader = body?.getReader();
  const bytes = new Uint8Array(maxBytes);
  for (let filled = 0; ;) {
    const { done, value = new Uint8Array() } = (await reader?.read()) ?? { done: true };
    if (done) return { bytes: bytes.subarray(0, filled), isWhole: true };
    bytes.set(value.subarray(0, maxBytes - filled), filled);
    if (filled + value.length > maxBytes) {
      await reader?.cancel();
      return { bytes, isWhole: false };
    }
    filled += value.length;
  }
}

export type ByteSource = {
  size: number;
  /** Throws `PartReadError` for a service, or the browser's error for a file that was moved or locked. */
  read: (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>;
  text: () => Promise<string>;
};

export class PartReadError extends Error {
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

const FIRST_BYTES = 256 * 1024;
const MAX_WITHOUT_RANGES = 24 * 1024 ** 2;

export async function openByteSource(src: string): Promise<Result<ByteSource, ApiFailure>> {
  const first = await readFirstBytes(src, FIRST_BYTES);
  if (!first.ok) return first;
  const { bytes, isWhole, size } = first.value;
  if (isWhole) return ok(createBlobSource(new Blob([bytes])));
  if (size === undefined) {
    const wholeResult = await readFirstBytes(src, MAX_WITHOUT_RANGES);
    return wholeResult.ok ? ok(createBlobSource(new Blob([wholeResult.value.bytes]))) : wholeResult;
  }
  const readRange = async (from: number, to: number) => {
    if (to <= bytes.length) return bytes.slice(from, to);
    const part = await readFirstBytes(src, to - from, from);
    if (!part.ok) throw new PartReadError(part.failure);
    return part.value.bytes;
  };
  return ok({ size, read: readRange, text: async () => new TextDecoder().decode(await readRange(0, size)) });
}

const MAX_BYTES = 64 * 1024;
export type TextBeginning = { text: string; isWhole: boolean };

export async function readBeginning(src: string): Promise<Result<TextBeginning, ApiFailure>> {
  const firstBytesResult = await readFirstBytes(src, MAX_BYTES);
  if (!firstBytesResult.ok) return firstBytesResult;
  const { bytes, isWhole } = firstBytesResult.value;
  return ok({ text: new TextDecoder().decode(bytes, { stream: !isWhole }), isWhole });
}
