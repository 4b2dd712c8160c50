// Reads parts of a file within limits, whatever lengths the file declares.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type ByteSource } from "../files/byte-source";

const MAX_PART_BYTES = 12_000_000;
const MAX_READ_BYTES = 96_000_000;
const MAX_READS = 400_000;
const WINDOW_BYTES = 16_384;

/** `damaged`: declared parts are missing. `too_much`: a limit was reached. */
export class UnreadableFileError extends Error {
  constructor(readonly reason: "damaged" | "too_much") {
    super(reason);
  }
}

export type ByteReader = { size: number; read: (from: number, length: number) => Promise<Uint8Array<ArrayBuffer>> };

export function createByteReader({ size, read: readRange }: ByteSource): ByteReader {
  let [buffer, bufferStart, remainingBytes, remainingReads] = [new Uint8Array(), 0, MAX_READ_BYTES, MAX_READS];
  return {
    size,
    async read(from, length) {
      if (from + length > size) throw new UnreadableFileError("damaged");
      remainingReads -= 1;
      if (from < bufferStart || from + length > bufferStart + buffer.length) {
        const to = Math.min(size, from + Math.max(length, WINDOW_BYTES));
        remainingBytes -= to - from;
        if (length > MAX_PART_BYTES || remainingBytes < 0) throw new UnreadableFileError("too_much");
        [buffer, bufferStart] = [await readRange(from, to), from];
        if (buffer.length < length) throw new UnreadableFileError("damaged");
      }
      if (remainingReads < 0) throw new UnreadableFileError("too_much");
      return buffer.subarray(from - bufferStart, from - bufferStart + length);
    },
  };
}

const textKeys = new Set(["prompt", "workflow", "comment"]);

/** Stores the first text of each key. Also accepts a JSON comment with both keys, as VideoHelperSuite writes it. */
export type TextCollector = {
  prompt?: string;
  workflow?: string;
  isDone: () => boolean;
  shouldRead: (name: string) => boolean;
  add: (name: string, text: string) => void;
};

export function createTextCollector(): TextCollector {
  const collector: TextCollector = {
    isDone: () => collector.prompt !== undefined && collector.workflow !== undefined,
    shouldRead: (name) => {
      const key = name.toLowerCase();
      return (
        textKeys.has(key) &&
        !(key === "prompt" && collector.prompt !== undefined) &&
        !(key === "workflow" && collector.workflow !== undefined)
      );
    },
    add: (name, text) => {
      const key = name.toLowerCase();
      if (key === "comment") addTextsFromObject(collector, parseJson(text));
      else if (key === "prompt") collector.prompt ??= text;
      else if (key === "workflow") collector.workflow ??= text;
    },
  };
  return collector;
}

export function addTextsFromObject(collector: TextCollector, value: unknown): void {
  if (!isObject(value)) return;
  for (const name of ["prompt", "workflow"]) {
    const item = getOwn(value, name);
    if (typeof item === "string") collector.add(name, item);
    else if (isObject(item)) collector.add(name, writeExactJson(item));
  }
}

/** Decodes valid UTF-8 as UTF-8, because many programs ignore the character set of their format. */
export function decodeBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return decodeLatin1(bytes);
  }
}

export function decodeLatin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

export function createView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function sliceOrThrow(bytes: Uint8Array<ArrayBuffer>, from: number, to: number): Uint8Array<ArrayBuffer> {
  if (to > bytes.length || from > to) throw new UnreadableFileError("damaged");
  return bytes.subarray(from, to);
}

export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

export async function decompress(compressed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream("deflate");
  const writer = writable.getWriter();
  for (const pendingWrite of [writer.write(compressed), writer.close()]) pendingWrite.catch(() => undefined);
  const reader = readable.getReader();
  const readChunk = () => reader.read().catch(() => Promise.reject(new UnreadableFileError("damaged")));
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let result = await readChunk(); !result.done; result = await readChunk()) {
    size += result.value.length;
    if (size > MAX_PART_BYTES) {
      await reader.cancel();
      throw new UnreadableFileError("too_much");
    }
    chunks.push(result.value);
  }
  return concatBytes(chunks);
}
