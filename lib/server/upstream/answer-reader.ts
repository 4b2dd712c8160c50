// Reads JSON responses of services: small ones here, larger ones in a worker thread, one at a time.

import "server-only";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { createLimiter } from "@/lib/shared/async";
import { codeOf } from "@/lib/shared/error-codes";
import { type Log } from "../log";
import { MAX_INLINE_BYTES, type ReadBody, readBody, type ReadOptions, TooLargeAnswer } from "./read-body";

const MAX_WAITING_BYTES = 256 * 1024 ** 2;
/** A catalogue of 64 MiB takes ten times as much memory while it is parsed. */
const HEAP_MB = 1024;
const IDLE_MS = 60_000;

export type AnswerTask = { bytes: Uint8Array; operationName: string; options: Omit<ReadOptions, "operation">; only?: readonly string[] };
export type ReadJson = { ok: true; json: Uint8Array<ArrayBuffer>; skipped: number } | { ok: false; reason: string; isTooLarge?: true };

export type AnswerReader = ReturnType<typeof createAnswerReader>;

export async function readJson(bytes: Uint8Array, options: ReadOptions, only?: readonly string[]): Promise<ReadJson> {
  const bodyResult = await readBody(bytes, options);
  if (!bodyResult.ok) return bodyResult;
  const json = writeExactJson(only ? pick(bodyResult.value, only) : bodyResult.value);
  const text = options.isCatalogue && !only ? `${writeExactJson(indexOf(bodyResult.value))}\n${json}` : json;
  return { ok: true, json: new TextEncoder().encode(text), skipped: bodyResult.skipped };
}

function pick(value: unknown, names: readonly string[]): Record<string, unknown> {
  const fields = objectOf(value) ?? {};
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name]]] : [])));
}

/** Each class of a catalogue with its display name, which may be empty. */
export type ClassIndex = readonly (readonly [className: string, displayName: string])[];

export function indexOf(catalogue: unknown): ClassIndex {
  return Object.entries(objectOf(catalogue) ?? {}).map(([name, info]) => [name, textOf(objectOf(info)?.display_name)?.trim() ?? ""]);
}

/** All methods throw TooLargeAnswer, and reject when the signal is aborted. The bytes are unusable afterwards. */
export function createAnswerReader(workerPath: string, log: Log) {
  const inTurn = createLimiter(1);
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let waitingBytes = 0;

  function getWorker(): Worker {
    clearTimeout(idle);
    if (worker) return worker;
    const newWorker = new Worker(workerPath, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    newWorker.on("error", (err) => log.error({ err }, "answer worker lost"));
    newWorker.once("exit", () => worker === newWorker && (worker = undefined));
    return (worker = newWorker);
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  async function inWorker(task: AnswerTask, signal: AbortSignal): Promise<ReadJson> {
    const reader = getWorker();
    const settled = new AbortController();
    try {
      return await new Promise<ReadJson>((resolve, reject) => {
        const lost = (error: Error) => reject(error);
        reader.once("message", resolve).once("error", lost);
        settled.signal.addEventListener("abort", () => reader.off("message", resolve).off("error", lost), { once: true });
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true, signal: settled.signal });
        reader.postMessage(task, task.bytes.buffer instanceof ArrayBuffer ? [task.bytes.buffer] : []);
      });
    } catch (error) {
      await end();
      if (signal.aborted) throw error;
      if (codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY") throw new TooLargeAnswer();
      return { ok: false, reason: "its answer could not be read" };
    } finally {
      settled.abort();
      worker?.unref();
      idle = setTimeout(() => void end(), IDLE_MS).unref();
    }
  }

  async function enqueue(task: AnswerTask, signal: AbortSignal): Promise<ReadJson> {
    // Read now: once transferred to the worker, the bytes have no length.
    const size = task.bytes.byteLength;
    if (waitingBytes + size > MAX_WAITING_BYTES) return { ok: false, reason: "too many large answers came at once" };
    waitingBytes += size;
    try {
      return await inTurn(async () => {
        signal.throwIfAborted();
        return inWorker(task, signal);
      });
    } finally {
      waitingBytes -= size;
    }
  }

  /** The answer as JSON text. `only`: the fields to return. */
  async function json(bytes: Uint8Array, options: ReadOptions, signal: AbortSignal, only?: readonly string[]): Promise<ReadJson> {
    if (bytes.byteLength <= MAX_INLINE_BYTES) return readJson(bytes, options, only);
    const { operation, ...rest } = options;
    const result = await enqueue({ bytes: toOwnBuffer(bytes), operationName: operation.name, options: rest, only }, signal);
    if (!result.ok && result.isTooLarge) throw new TooLargeAnswer();
    return result;
  }

  return {
    json,
    async value(bytes: Uint8Array, options: ReadOptions, signal: AbortSignal): Promise<ReadBody> {
      const result = await json(bytes, options, signal);
      if (!result.ok) return result;
      const text = new TextDecoder().decode(result.json);
      // Other requests run between the steps, each of which takes long for a large answer.
      await nextTurn();
      const value = parseExactJson(text);
      await nextTurn();
      return { ok: true, value, skipped: result.skipped };
    },
    close: end,
  };
}

/** A copy unless the bytes fill their buffer: otherwise other contents of the buffer would be transferred too. */
function toOwnBuffer(bytes: Uint8Array): Uint8Array {
  // A Buffer's own slice does not copy.
  return bytes.buffer.byteLength === bytes.byteLength && bytes.buffer instanceof ArrayBuffer ? bytes : new Uint8Array(bytes);
}
