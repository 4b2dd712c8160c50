// Bounded reads of a file. Declared lengths cannot exceed the limits.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn, isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type ByteSource } from "../files/byte-source";

const MAX_PART_BYTES = 12_000_000;
const MAX_READ_BYTES = 96_000_000;
const MAX_STEPS = 400_000;
const WINDOW_BYTES = 16_384;

/** `damaged`: declared parts are missing. `too_much`: a limit was reached. */
export class UnreadableFile extends Error {
  constructor(readonly reason: "damaged" | "too_much") {
    super(reason);
  }
}

export type Bytes = { size: number; at: (from: number, length: number) => Promise<Uint8Array<ArrayBuffer>> };

export function createBoundedBytes({ size, read }: ByteSource): Bytes {
  let [window, start, remainingBytes, steps] = [new Uint8Array(), 0, MAX_READ_BYTES, MAX_STEPS];
  return {
    size,
    async at(from, length) {
      if (from + length > size) throw new UnreadableFile("damaged");
      steps -= 1;
      if (from < start || from + length > start + window.length) {
        const to = Math.min(size, from + Math.max(length, WINDOW_BYTES));
        remainingBytes -= to - from;
        if (length > MAX_PART_BYTES || remainingBytes < 0) throw new UnreadableFile("too_much");
        [window, start] = [await read(from, to), from];
        if (window.length < length) throw new UnreadableFile("damaged");
      }
      if (steps < 0) throw new UnreadableFile("too_much");
      return window.subarray(from - start, from - start + length);
    },
  };
}

const textKeys = new Set(["prompt", "workflow", "comment"]);

/** Stores the first text per key. Also reads a JSON comment with both keys, as VideoHelperSuite writes it. */
export type TextCollector = {
  prompt?: string;
  workflow?: string;
  isDone: () => boolean;
  wants: (name: string) => boolean;
  add: (name: string, text: string) => void;
};

export function createTextCollector(): TextCollector {
  const collector: TextCollector = {
    isDone: () => collector.prompt !== undefined && collector.workflow !== undefined,
    wants: (name) => {
      const key = name.toLowerCase();
      return (
        textKeys.has(key) &&
        !(key === "prompt" && collector.prompt !== undefined) &&
        !(key === "workflow" && collector.workflow !== undefined)
      );
    },
    add: (name, text) => {
      const key = name.toLowerCase();
      if (key === "comment") addObject(collector, parseJson(text));
      else if (key === "prompt") collector.prompt ??= text;
      else if (key === "workflow") collector.workflow ??= text;
    },
  };
  return collector;
}

export function addObject(collector: TextCollector, value: unknown): void {
  if (!isObject(value)) return;
  for (const name of ["prompt", "workflow"]) {
    const item = getOwn(value, name);
    if (typeof item === "string") collector.add(name, item);
    else if (isObject(item)) collector.add(name, writeExactJson(item));
  }
}

/** Valid UTF-8 is read as UTF-8, because many writers ignore the character set of their format. */
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

export function takePart(bytes: Uint8Array<ArrayBuffer>, from: number, to: number): Uint8Array<ArrayBuffer> {
  if (to > bytes.length || from > to) throw new UnreadableFile("damaged");
  return bytes.subarray(from, to);
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export async function decompress(compressed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream("deflate");
  const writer = writable.getWriter();
  for (const pendingWrite of [writer.write(compressed), writer.close()]) pendingWrite.catch(() => undefined);
  const reader = readable.getReader();
  const next = () => reader.read().catch(() => Promise.reject(new UnreadableFile("damaged")));
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let item = await next(); !item.done; item = await next()) {
    size += item.value.length;
    if (size > MAX_PART_BYTES) {
      await reader.cancel();
      throw new UnreadableFile("too_much");
    }
    parts.push(item.value);
  }
  return concatBytes(parts);
}
