// Parses large upstream responses in a worker thread.

import "server-only";
import { randomBytes } from "node:crypto";
import { Worker } from "node:worker_threads";
import { needsSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { type SecretPlace } from "@/lib/contract/secrets/secret-places";
import { createLimiter } from "@/lib/shared/async";
import { codeOf } from "@/lib/shared/error-codes";
import { type Log } from "../log";
import { type ShownFile } from "../store/jobs/job-viewers";
import { type LedgerNote } from "../store/jobs/ledger-entry";
import { MAX_NAMES, type ReadBody, TOO_LARGE, type ToRead } from "./read-body";

/** `end`: where the part ends in `json`; the next one begins there. */
type Place = { path: readonly (string | number)[]; end: number };
type InParts = { json: Uint8Array; places: readonly Place[] };

/** The most rows of a list of jobs (more than any queue holds), and fields of a row. Anything larger stays one part. */
const MOST_ROWS = 100_000;
const MOST_FIELDS = 200;
/** For an answer that is itself a list. An object, such as a catalogue of node classes, may have MAX_NAMES fields. */
const MOST_ITEMS = 5000;
/** Longer than signed addresses. */
const LONGEST_TEXT = 4096;
const LARGEST_VALUE = 256;

/** Runs in the thread. Rows stay separate, so that names can be added to each. */
export function takeApart(value: unknown): { rest: unknown; inParts: InParts } {
  const pieces: Buffer[] = [];
  const places: Place[] = [];
  let end = 0;
  const write = (item: unknown, path: Place["path"]): unknown => {
    const isContainer = typeof item === "object" && item !== null;
    if (isContainer ? false : typeof item !== "string" || item.length <= LONGEST_TEXT) return item;
    const piece = Buffer.from(writeExactJson(item));
    // The spelling of numbers is lost between threads.
    if (isContainer && piece.byteLength <= LARGEST_VALUE && !needsSpelling(item)) return item;
    pieces.push(piece);
    end += piece.byteLength;
    places.push({ path, end });
    return null;
  };
  const row = (item: unknown, path: Place["path"]) => mapped(item, path, MOST_FIELDS, write);
  const field = (item: unknown, path: Place["path"]) => (Array.isArray(item) ? mapped(item, path, MOST_ROWS, row) : write(item, path));
  function mapped(item: unknown, path: Place["path"], most: number, put: (item: unknown, path: Place["path"]) => unknown): unknown {
    if (Array.isArray(item) && item.length <= most) return item.map((one: unknown, index) => put(one, [...path, index]));
    if (!isObject(item) || Object.keys(item).length > most) return write(item, path);
    return Object.fromEntries(Object.entries(item).map(([name, one]) => [name, put(one, [...path, name])]));
  }
  const rest = mapped(value, [], Array.isArray(value) ? MOST_ITEMS : MAX_NAMES, field);
  return { rest, inParts: { json: Buffer.concat(pieces), places } };
}

function createWrittenParts() {
  const mark = randomBytes(12).toString("hex");
  const places = new RegExp(`"${mark}-(\\d+)"`);
  let count = 0;
  /** The parts of the value that is being written. */
  let met: Map<string, Uint8Array> | undefined;

  function part(bytes: Uint8Array): object {
    count += 1;
    const name = String(count);
    return {
      toJSON() {
        met?.set(name, bytes);
        return `${mark}-${name}`;
      },
    };
  }

  return {
    put(rest: unknown, { json, places: all }: InParts): unknown {
      let value = rest;
      let begin = 0;
      for (const { path, end } of all) {
        const found = part(json.subarray(begin, end));
        begin = end;
        const holder = path.slice(0, -1).reduce<unknown>(inside, value);
        const name = path.at(-1);
        if (name === undefined) value = found;
        // Defined and not assigned: a name may be `__proto__`.
        else if (typeof holder === "object" && holder !== null)
          Object.defineProperty(holder, name, { value: found, enumerable: true, writable: true, configurable: true });
      }
      return value;
    },

    write(value: unknown): Uint8Array {
      met = new Map();
      const text = writeExactJson(value);
      const parts = met;
      met = undefined;
      // Every other piece is what the pattern caught: the name of a part.
      const pieces = text.split(places).map((piece, index) => (index % 2 === 0 ? Buffer.from(piece) : (parts.get(piece) ?? Buffer.of())));
      return Buffer.concat(pieces);
    },
  };
}

function inside(holder: unknown, name: string | number): unknown {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined;
}

/** Smaller answers take a few milliseconds, and are read in the main thread. */
export const LARGE_ANSWER = 1024 * 1024;
const MOST_WAITING_BYTES = 256 * 1024 ** 2;
/** An answer of 64 MiB takes ten times as much memory while it is processed. */
const HEAP_MB = 1024;
const IDLE_MS = 60_000;

/** What this process learns about an answer whose parts it does not read. */
export type Digest = {
  notes: readonly LedgerNote[];
  workflowName?: string;
  /** Files that it shows, from the outputs of jobs. */
  files?: readonly ShownFile[];
  /** For a job. */
  classes?: readonly string[];
  secretPlaces?: readonly SecretPlace[];
  /** For a catalogue. */
  classNames?: readonly (readonly [className: string, name: string])[];
};
/** `isPassedOn`: it is not read here, so its large parts are returned as written JSON. */
type Reading = ToRead & { isPassedOn: boolean };
/** `name`: the name of a wording of the local dialect. */
type ToWord = { name: string; args: unknown };
/** `isJson`: the answer was JSON, but not a local server's. `why`: why it was not read; the end of a sentence. */
type Worded = { ok: true; json: Uint8Array | undefined } | { ok: false; isJson: boolean } | { ok: false; why: string };

export type Task =
  | { kind: "read"; bytes: Uint8Array; operationName: string; how: Omit<Reading, "operation"> }
  | ({ kind: "word"; answers: readonly Uint8Array[] } & ToWord);
export type Done = { kind: "read"; read: ReadBody; isClean: boolean; inParts?: InParts; digest?: Digest } | ({ kind: "word" } & Worded);
type DoneOf<K extends Done["kind"]> = Extract<Done, { kind: K }>;

export type LargeAnswers = {
  /** Rejects when the signal is aborted. The bytes are transferred and unusable afterwards. */
  read(bytes: Uint8Array, how: Reading, signal: AbortSignal): Promise<ReadBody>;
  /** Translates answers of a local server to the interface's words. The bytes are transferred and unusable afterwards. */
  word(answers: readonly Uint8Array[], how: ToWord, signal: AbortSignal): Promise<Worded>;
  /** For a value whose large parts are written JSON. */
  digestOf(value: unknown): Digest | undefined;
  /** Such a value as JSON. */
  written(value: unknown): Uint8Array;
  /** Masked already, with the key of its connection. */
  isMasked(value: object): boolean;
  /** Masked, and without an address of the embedded service. */
  isClean(value: object): boolean;
  close(): Promise<void>;
};

export function createLargeAnswers(threadPath: string, log: Log): LargeAnswers {
  const inTurn = createLimiter(1);
  const known = new WeakMap<object, { isClean: boolean }>();
  const digests = new WeakMap<object, Digest>();
  const parts = createWrittenParts();
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

  async function inThread<K extends Task["kind"]>(
    task: Task & { kind: K },
    given: readonly Uint8Array[],
    signal: AbortSignal,
    fallBack: (error: unknown) => DoneOf<K>,
  ): Promise<DoneOf<K>> {
    const reader = started();
    const settled = new AbortController();
    try {
      return await new Promise<DoneOf<K>>((resolve, reject) => {
        const once = { once: true, signal: settled.signal };
        const lost = (error: Error) => reject(error);
        reader.once("message", resolve).once("error", lost);
        settled.signal.addEventListener("abort", () => reader.off("message", resolve).off("error", lost), { once: true });
        signal.addEventListener("abort", () => reject(new Error("given up")), once);
        reader.postMessage(
          task,
          given.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : [])),
        );
      });
    } catch (error) {
      await end();
      if (signal.aborted) throw error;
      return fallBack(error);
    } finally {
      settled.abort();
      thread?.unref();
      idle = setTimeout(() => void end(), IDLE_MS).unref();
    }
  }

  /** Undefined: the queue is too long; refusing is better than waiting. */
  async function bounded<T>(given: readonly Uint8Array[], signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    // Read now: once transferred to the thread, the bytes have no length.
    const size = given.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (waitingBytes + size > MOST_WAITING_BYTES) return undefined;
    waitingBytes += size;
    try {
      return await inTurn(async () => {
        signal.throwIfAborted();
        return work();
      });
    } finally {
      waitingBytes -= size;
    }
  }

  /** Marks the answer, its fields, and the rows of lists with their fields: adding names to rows makes new objects of them. */
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
    async read(bytes, { operation, ...how }, signal) {
      const whole = own(bytes);
      const done = await bounded([whole], signal, () =>
        inThread({ kind: "read", bytes: whole, operationName: operation.name, how }, [whole], signal, unreadable),
      );
      if (!done) return { ok: false, why: TOO_MANY };
      const { read, isClean, inParts, digest } = done;
      if (!read.ok) return read;
      const value = inParts ? parts.put(read.value, inParts) : read.value;
      remember(value, { isClean });
      if (digest && typeof value === "object" && value !== null) digests.set(value, digest);
      return { ok: true, value, skipped: read.skipped };
    },
    async word(answers, how, signal) {
      const whole = answers.map(own);
      const done = await bounded(whole, signal, () => inThread({ kind: "word", answers: whole, ...how }, whole, signal, unworded));
      return done ?? { ok: false, why: TOO_MANY };
    },
    written: (value) => parts.write(value),
    digestOf: (value) => (typeof value === "object" && value !== null ? digests.get(value) : undefined),
    isMasked: (value) => known.has(value),
    isClean: (value) => known.get(value)?.isClean === true,
    close: end,
  };
}

/** A copy unless the bytes fill their buffer: otherwise other contents of the buffer would be transferred too. */
function own(bytes: Uint8Array): Uint8Array {
  // A Buffer's own slice does not copy.
  return bytes.buffer.byteLength === bytes.byteLength && bytes.buffer instanceof ArrayBuffer ? bytes : new Uint8Array(bytes);
}

function unreadable(error: unknown): DoneOf<"read"> {
  return { kind: "read", read: { ok: false, why: whyLost(error) }, isClean: false };
}

function unworded(error: unknown): DoneOf<"word"> {
  return { kind: "word", ok: false, why: whyLost(error) };
}

const TOO_MANY = "too many large answers came at once";

function whyLost(error: unknown): string {
  const isOutOfMemory = codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
  return isOutOfMemory ? TOO_LARGE : "its answer could not be read here";
}
