// Parses JSON responses of services: small ones here, larger ones in a worker thread, one at a time.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { createLimiter } from "@/lib/shared/async";
import { getErrorCode } from "@/lib/shared/error-codes";
import { type Log } from "../log";
import { isLargeResponse, type ReadBody, readBody, type ReadOptions, ResponseTooLargeError } from "./read-body";

const MAX_PENDING_BYTES = 256 * 1024 ** 2;
/** Parsing a catalogue of 64 MiB needs ten times as much memory. */
const MAX_HEAP_MB = 1024;
const IDLE_MS = 60_000;

export type ParseTask = { bytes: Uint8Array; operationName: string; options: Omit<ReadOptions, "operation">; only?: readonly string[] };
export type ReadJson = { ok: true; json: Uint8Array<ArrayBuffer>; skipped: number } | { ok: false; reason: string; isTooLarge?: true };

export type ResponseReader = ReturnType<typeof createResponseReader>;

export async function parseToJson(bytes: Uint8Array, options: ReadOptions, fieldNames?: readonly string[]): Promise<ReadJson> {
  const bodyResult = await readBody(bytes, options);
  if (!bodyResult.ok) return bodyResult;
  const json = writeExactJson(fieldNames ? pickFields(bodyResult.value, fieldNames) : bodyResult.value);
  const text = options.isCatalogue && !fieldNames ? `${writeExactJson(buildClassIndex(bodyResult.value))}\n${json}` : json;
  return { ok: true, json: new TextEncoder().encode(text), skipped: bodyResult.skipped };
}

function pickFields(value: unknown, names: readonly string[]): Record<string, unknown> {
  const fields = asObject(value) ?? {};
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name]]] : [])));
}

/** Each class of a catalogue with its display name, which may be empty. */
export type ClassIndex = readonly (readonly [className: string, displayName: string])[];

export function buildClassIndex(catalogue: unknown): ClassIndex {
  return Object.entries(asObject(catalogue) ?? {}).map(([name, info]) => [name, asText(asObject(info)?.display_name)?.trim() ?? ""]);
}

/** Methods throw ResponseTooLargeError and reject when the signal is aborted. They transfer the bytes, which then can't be used. */
export function createResponseReader(workerPath: string, log: Log) {
  const limit = createLimiter(1);
  let worker: Worker | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let pendingBytes = 0;

  function ensureWorker(): Worker {
    clearTimeout(idleTimer);
    if (worker) return worker;
    const newWorker = new Worker(workerPath, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    newWorker.on("error", (err) => log.error({ err }, "response worker failed"));
    newWorker.once("exit", () => worker === newWorker && (worker = undefined));
    return (worker = newWorker);
  }

  async function endWorker(): Promise<void> {
    clearTimeout(idleTimer);
    const endedWorker = worker;
    worker = undefined;
    await endedWorker?.terminate();
  }

  async function runInWorker(task: ParseTask, signal: AbortSignal): Promise<ReadJson> {
    const activeWorker = ensureWorker();
    const cleanup = new AbortController();
    try {
      return await new Promise<ReadJson>((resolve, reject) => {
        const onError = (error: Error) => reject(error);
        activeWorker.once("message", resolve).once("error", onError);
        cleanup.signal.addEventListener("abort", () => activeWorker.off("message", resolve).off("error", onError), { once: true });
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true, signal: cleanup.signal });
        activeWorker.postMessage(task, task.bytes.buffer instanceof ArrayBuffer ? [task.bytes.buffer] : []);
      });
    } catch (error) {
      await endWorker();
      if (signal.aborted) throw error;
      if (getErrorCode(error) === "ERR_WORKER_OUT_OF_MEMORY") throw new ResponseTooLargeError();
      return { ok: false, reason: "its response could not be read" };
    } finally {
      cleanup.abort();
      worker?.unref();
      idleTimer = setTimeout(() => void endWorker(), IDLE_MS).unref();
    }
  }

  async function enqueue(task: ParseTask, signal: AbortSignal): Promise<ReadJson> {
    // Read before the bytes are transferred, because afterwards they have no length.
    const size = task.bytes.byteLength;
    if (pendingBytes + size > MAX_PENDING_BYTES) return { ok: false, reason: "too many large responses arrived at once" };
    pendingBytes += size;
    try {
      return await limit(async () => {
        signal.throwIfAborted();
        return runInWorker(task, signal);
      });
    } finally {
      pendingBytes -= size;
    }
  }

  async function readLargeJson(
    bytes: Uint8Array,
    { operation, ...options }: ReadOptions,
    signal: AbortSignal,
    fieldNames?: readonly string[],
  ): Promise<ReadJson> {
    const task = { bytes: toOwnBuffer(bytes), operationName: operation.name, options, only: fieldNames };
    const result = await enqueue(task, signal);
    if (!result.ok && result.isTooLarge) throw new ResponseTooLargeError();
    return result;
  }

  return {
    /** Returns the response as JSON text. `fieldNames` limits it to these fields. */
    async readJson(bytes: Uint8Array, options: ReadOptions, signal: AbortSignal, fieldNames?: readonly string[]): Promise<ReadJson> {
      return isLargeResponse(bytes) ? readLargeJson(bytes, options, signal, fieldNames) : parseToJson(bytes, options, fieldNames);
    },
    async readLargeValue(bytes: Uint8Array, options: ReadOptions, signal: AbortSignal): Promise<ReadBody> {
      const result = await readLargeJson(bytes, options, signal);
      if (!result.ok) return result;
      const text = new TextDecoder().decode(result.json);
      // Yields between the steps, because each takes long for a large response.
      await yieldToEventLoop();
      const value = parseExactJson(text);
      await yieldToEventLoop();
      return { ok: true, value, skipped: result.skipped };
    },
    close: endWorker,
  };
}

/** Copies the bytes unless they fill their buffer, because the entire buffer is transferred. */
function toOwnBuffer(bytes: Uint8Array): Uint8Array {
  // A Buffer's own slice does not copy.
  return bytes.buffer.byteLength === bytes.byteLength && bytes.buffer instanceof ArrayBuffer ? bytes : new Uint8Array(bytes);
}
