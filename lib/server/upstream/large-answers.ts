// Large answers of services are parsed, searched for keys and checked in a thread, so that nobody else waits for one of them.
// Guarantees: one at a time, in the order in which they came; what waits is bounded in bytes; whoever gives up, by their own will or a
// time limit, ends the work; what comes back is masked, and is known again by it. Must never: keep the process alive.

import "server-only";
import { Worker } from "node:worker_threads";
import { createTurns } from "@/lib/shared/turns";
import { type Log } from "../log";
import { type FromReader, type ToReader } from "./answer-thread";
import { type ReadBody, TOO_LARGE, type ToRead } from "./read-body";

/** Smaller ones take a few milliseconds, and go nowhere. */
export const LARGE_ANSWER = 1024 * 1024;
const MOST_WAITING_BYTES = 256 * 1024 ** 2;
/** An answer of 64 MiB takes ten times as much while it is looked through. */
const HEAP_MB = 1024;
const IDLE_MS = 60_000;
/** Longer lists hold no jobs. */
const MOST_ROWS = 2000;

export type LargeAnswers = {
  /** Rejects when the signal is aborted. */
  read(bytes: Uint8Array, how: ToRead, signal: AbortSignal): Promise<ReadBody>;
  /** Masked already, with the key of its connection. */
  isMasked(value: object): boolean;
  /** Masked, and nowhere in it an address of the embedded service. */
  isClean(value: object): boolean;
  close(): Promise<void>;
};

export function createLargeAnswers(threadPath: string, log: Log): LargeAnswers {
  const inTurn = createTurns(1);
  const known = new WeakMap<object, { isClean: boolean }>();
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let waitingBytes = 0;

  function started(): Worker {
    clearTimeout(idle);
    if (thread) return thread;
    const made = new Worker(threadPath, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    made.on("error", (err) => log.error({ err }, "the thread for large answers was lost"));
    made.once("exit", () => thread === made && (thread = undefined));
    return (thread = made);
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  }

  async function inThread(bytes: Uint8Array, { operation, ...how }: ToRead, signal: AbortSignal): Promise<FromReader> {
    const reader = started();
    const heard = new AbortController();
    try {
      return await new Promise<FromReader>((resolve, reject) => {
        const once = { once: true, signal: heard.signal };
        const lost = (error: Error) => reject(error);
        reader.once("message", resolve).once("error", lost);
        heard.signal.addEventListener("abort", () => reader.off("message", resolve).off("error", lost), { once: true });
        signal.addEventListener("abort", () => reject(new Error("given up")), once);
        const whole = bytes.buffer.byteLength === bytes.byteLength && bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice();
        const task: ToReader = { bytes: whole, operationName: operation.name, ...how };
        reader.postMessage(task, whole.buffer instanceof ArrayBuffer ? [whole.buffer] : []);
      });
    } catch (error) {
      await end();
      if (signal.aborted) throw error;
      return { read: { ok: false, why: isOutOfMemory(error) ? TOO_LARGE : "its answer could not be read here" }, isClean: false };
    } finally {
      heard.abort();
      thread?.unref();
      idle = setTimeout(() => void end(), IDLE_MS).unref();
    }
  }

  /** The answer, its fields, and where one is a list, its rows and their fields: names are put on rows, which makes new ones of them. */
  function remember(value: unknown, mark: { isClean: boolean }): void {
    for (const field of marked(value, mark)) {
      const isRows = Array.isArray(field) && field.length <= MOST_ROWS;
      for (const row of marked(field, mark, isRows)) for (const part of marked(row, mark)) marked(part, mark, false);
    }
  }

  function marked(value: unknown, mark: { isClean: boolean }, andInside = true): unknown[] {
    if (typeof value !== "object" || value === null) return [];
    known.set(value, mark);
    return andInside ? Object.values(value) : [];
  }

  return {
    async read(bytes, how, signal) {
      // Whoever would wait behind so much is better told than kept.
      if (waitingBytes + bytes.byteLength > MOST_WAITING_BYTES) return { ok: false, why: "too many large answers came at once" };
      waitingBytes += bytes.byteLength;
      try {
        return await inTurn(async () => {
          signal.throwIfAborted();
          const { read, isClean } = await inThread(bytes, how, signal);
          if (read.ok) remember(read.value, { isClean });
          return read;
        });
      } finally {
        waitingBytes -= bytes.byteLength;
      }
    },
    isMasked: (value) => known.has(value),
    isClean: (value) => known.get(value)?.isClean === true,
    close: end,
  };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
