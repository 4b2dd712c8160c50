// The client of the interface for one connection. Reads are retried on rate limits, 502, 503 and 504; nothing else is sent twice.

import "server-only";
import { type Failure, isPlainRateLimit, lacksOperation } from "@/lib/contract/failure";
import { own } from "@/lib/contract/json/own";
import { noteSkipped } from "@/lib/contract/json/readers";
import { type AnswerOf, isRead, type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { sleep } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { observed } from "@/lib/shared/telemetry";
import { type AnswerReader } from "./answer-reader";
import { type Catalogue, type JsonReader, type ReadAnswer } from "./catalogue-reader";
import { createDeadline, type GiveUp, type Silences } from "./deadline";
import {
  absent,
  callerWentAway,
  lookupOf,
  notAddressable,
  nothingThere,
  refusal,
  timedOut,
  tooLarge,
  unreachable,
  unreadable,
} from "./failures";
import { keyGate } from "./key-gate";
import { openBytes } from "./open-bytes";
import { type CallInput, isAddressable, rawPath, toRequest, toUrl } from "./outgoing";
import { answerFor, MAX_INLINE_BYTES, MAX_JSON_BYTES, readBody, TooLargeAnswer } from "./read-body";
import { type Send } from "./send";
import { readBytes, watched } from "./streams";

const MAX_REFUSAL_LENGTH = 1024 * 1024;

type Answered<T = unknown> = { status: number; value: T };

type Context<T> = {
  operation: Operation;
  baseUrl: string;
  apiKey: string | undefined;
  now: number;
  readJson(): Promise<ReadAnswer<T>>;
};

async function readAnswer<T>(answer: Response, context: Context<T>): Promise<Result<Answered<T | undefined>, Failure>> {
  const { operation, baseUrl, now, apiKey } = context;
  const gate = keyGate(apiKey);
  if (answer.status >= 400) {
    const body = await readBytes(answer.body, MAX_REFUSAL_LENGTH);
    return failed(refusal(answer, body ? await gate.text(toText(body)) : "", { operation, now }));
  }
  if (answer.status >= 300) {
    await answer.body?.cancel();
    return failed(unreadable(baseUrl, answer.status, `it redirects (${answer.status})`));
  }
  const expected = answerFor(operation, answer.status);
  if (expected?.kind !== "json") {
    await answer.body?.cancel();
    return ok({ status: answer.status, value: undefined });
  }
  if (/^\s*text\/html\b/i.test(answer.headers.get("content-type") ?? "")) {
    await answer.body?.cancel();
    return failed(unreadable(baseUrl, answer.status, "it answers a web page"));
  }
  const read = await context.readJson();
  return read.ok ? ok({ status: answer.status, value: read.value }) : failed(unreadable(baseUrl, answer.status, read.why));
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const outcomes: Readonly<Record<string, string>> = {
  UPSTREAM_UNREACHABLE: "unreachable",
  UPSTREAM_UNREADABLE: "unreadable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_REFUSED_KEY: "key refused",
  RATE_LIMITED: "rate limited",
  CLIENT_GONE: "given up",
};

function observedCall<T extends { status: number }>(
  { name }: Operation,
  call: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  return observed(
    {
      name: `call ${name}`,
      attributes: { operation: name },
      outcomeOf: (result) =>
        result.ok ? "ok" : (own(outcomes, result.failure.code) ?? (result.failure.status >= 500 ? "error" : "refused")),
      statusOf: (result) => (result.ok ? result.value : result.failure).status,
      measured(metrics, outcome, seconds) {
        metrics.count("lightdesk_upstream_calls_total", { operation: name, outcome });
        metrics.observe("lightdesk_upstream_call_duration_seconds", { operation: name }, seconds);
      },
    },
    call,
  );
}

export type UpstreamLimits = {
  readMs: number;
  pageMs: number;
  /** Until a read that is waited for is given up, if the service answers nothing else meanwhile. */
  silentMs: number;
  /** Until a change must be answered; for uploads, the time without a byte moving. */
  writeMs: number;
  jsonBytes: number;
  attempts: number;
  firstRetryMs: number;
  /** If a service asks for a longer wait, the answer is a failure with that wait. */
  longestWaitMs: number;
};
const usualLimits: UpstreamLimits = {
  readMs: 30_000,
  pageMs: 10_000,
  silentMs: 5_000,
  writeMs: 60_000,
  jsonBytes: MAX_JSON_BYTES,
  attempts: 3,
  firstRetryMs: 250,
  longestWaitMs: 3000,
};

export type UpstreamOptions = {
  baseUrl: string;
  apiKey: string | undefined;
  send: Send;
  /** For addresses outside the base URL's origin that the service names: guarded, and always without the key. */
  sendForeign?: Send;
  now?: () => number;
  limits?: Partial<UpstreamLimits>;
  learn?: (operation: Operation, status: number) => void;
  /** Whether the operation refused another item than this one before, and accepted none. */
  isSecond?: (operation: Operation, item: string) => boolean;
  onAnswer?: (operation: Operation, answer: unknown) => void;
  /** Called before each call; answers why it must not be made. */
  refusalOf?: (operation: Operation, input: CallInput) => Promise<Failure | undefined>;
  answers?: AnswerReader;
  readCatalogue?: JsonReader<Catalogue>;
  /** Names the connection in the download path of an answer that is too large. */
  connectionId?: string;
  /** `service`: a name shared by all calls of a connection at one address. */
  silences?: { of: Silences; service: string };
};

export type Upstream = {
  /** For the console's own use: free of the key, but not masked. */
  call<O extends Operation>(operation: O, input?: CallInput): Promise<Result<AnswerOf<O>, Failure>>;
  /** To pass on to a browser: masked, and with the service's status. */
  exchange<O extends Operation>(operation: O, input?: CallInput): Promise<Result<Answered<AnswerOf<O>>, Failure>>;
  /** The whole node catalogue, masked. */
  catalogue(input?: CallInput): Promise<Result<Catalogue, Failure>>;
  /** The content itself, as a stream; redirects to stored bytes are followed without the key. */
  forward(operation: Operation, input?: CallInput): Promise<Result<Response, Failure>>;
};

export function createUpstream(options: UpstreamOptions): Upstream {
  const limits = { ...usualLimits, ...options.limits };
  const now = options.now ?? Date.now;
  const { baseUrl, apiKey } = options;

  function jsonReader(isMasked: boolean): JsonReader<unknown> {
    return async (answer, how, signal) => {
      const bytes = await readBytes(answer.body, limits.jsonBytes);
      if (bytes === undefined) throw new TooLargeAnswer();
      const workerReader = bytes.byteLength > MAX_INLINE_BYTES ? options.answers : undefined;
      const read = await (workerReader
        ? workerReader.value(bytes, { ...how, isMasked }, signal)
        : readBody(bytes, { ...how, isMasked: false }));
      if (!read.ok) return read;
      // Unmasked where possible: a masked preview address cannot be opened.
      options.onAnswer?.(how.operation, read.value);
      const value = isMasked && !workerReader ? maskSecrets(read.value, apiKey === undefined ? [] : [apiKey]) : read.value;
      // The worker's value and a masked one are copies, which lack the count.
      return { ok: true, value: typeof value === "object" && value !== null ? noteSkipped(value, read.skipped) : value };
    };
  }
  const readUnmasked = jsonReader(false);
  const masked = jsonReader(true);

  /** `wait`: the read may be given up for a silence. `isAnsweredElsewhere` is set if that was because another request got an answer. */
  async function once<T>(
    operation: Operation,
    input: CallInput,
    reader: JsonReader<T>,
    wait?: { isAnsweredElsewhere: boolean },
  ): Promise<Result<Answered<T | undefined>, Failure>> {
    const reads = isRead(operation);
    const readMs = input.waits === "page" ? Math.min(limits.pageMs, limits.readMs) : limits.readMs;
    const limitMs = input.limits?.exchangeMs ?? (reads ? readMs : limits.writeMs);
    const deadline = createDeadline(limitMs, input.signal);
    let quietMs = limitMs;
    const giveUp: GiveUp = (why) => {
      if (why !== "answered") quietMs = why.quietMs;
      else if (wait) wait.isAnsweredElsewhere = true;
      deadline.expire();
    };
    const { silences } = options;
    let endWait = wait && silences?.of.begin(silences.service, limits.silentMs, giveUp);
    // After the head, the body gets the full time: the service is not silent.
    const answered = () => {
      endWait?.();
      endWait = undefined;
      silences?.of.answered(silences.service);
    };
    const moving = input.body && { ...input, body: { ...input.body, stream: watched(input.body.stream, deadline.touch) } };
    try {
      const request = toRequest(toUrl(baseUrl, operation, input), operation, moving ?? input, apiKey, deadline.signal);
      const answer = await options.send(request, answered);
      answered();
      options.learn?.(operation, answer.status);
      const { signal } = deadline;
      const how = { operation, status: answer.status, apiKey, mostRows: mostRowsOf(input) };
      const readJson = () => reader(answer, how, signal);
      return await readAnswer(answer, { operation, baseUrl, apiKey, now: now(), readJson });
    } catch (error) {
      if (deadline.expired) return failed(timedOut(baseUrl, quietMs));
      if (input.signal?.aborted) return failed(callerWentAway());
      if (error instanceof TooLargeAnswer) {
        error.discard();
        return failed(tooLarge(baseUrl, rawPath(operation, input, options.connectionId)));
      }
      return failed(unreachable(baseUrl, error));
    } finally {
      endWait?.();
      deadline.clear();
    }
  }

  async function exchange<T>(
    operation: Operation,
    input: CallInput,
    reader: JsonReader<T>,
  ): Promise<Result<Answered<T | undefined>, Failure>> {
    if (!isAddressable(operation, input)) return failed(notAddressable());
    const attempts = input.limits?.attempts ?? limits.attempts;
    for (let attempt = 1; ; attempt += 1) {
      const wait = isRead(operation) && input.waits ? { isAnsweredElsewhere: false } : undefined;
      let result = await observedCall(operation, () => once(operation, input, reader, wait));
      // The read's connection may be dead while the service is back: try once more. If it is only slow, this try has the full time.
      if (!result.ok && wait?.isAnsweredElsewhere) result = await observedCall(operation, () => once(operation, input, reader));
      if (result.ok || operation.method !== "GET" || attempt >= attempts) return result;
      const waitMs = waitBeforeRetry(result.failure, limits.firstRetryMs * 2 ** (attempt - 1));
      if (waitMs === undefined || waitMs > limits.longestWaitMs) return result;
      if (!(await sleep(waitMs, { signal: input.signal }))) return failed(callerWentAway());
    }
  }

  /** A 404 of a job or an asset is requested once more; it counts only while the service finds other jobs or assets. */
  async function confirmed<T>(
    operation: Operation,
    input: CallInput,
    reader: JsonReader<T>,
  ): Promise<Result<Answered<T | undefined>, Failure>> {
    const refused = await options.refusalOf?.(operation, input);
    if (refused) return failed(refused);
    const result = await exchange(operation, input, reader);
    const listing = listingOf(operation);
    if (!listing) return decided(operation, input, result);
    if (result.ok || result.failure.status !== 404 || !isAddressable(operation, input)) return result;
    if (!(await sleep(limits.firstRetryMs, { signal: input.signal }))) return failed(callerWentAway());
    const again = await exchange(operation, input, reader);
    if (again.ok || again.failure.status !== 404) return again;
    const list = await exchange(listing, { query: { offset: 0, limit: 1 }, signal: input.signal, limits: input.limits }, readUnmasked);
    return !list.ok && list.failure.status === 404 ? failed(nothingThere(again.failure)) : again;
  }

  /** A 404 of an extension is about the operation if the item it was asked for exists and allows the operation. */
  async function decided<T>(
    operation: Operation,
    input: CallInput,
    result: Result<Answered<T>, Failure>,
  ): Promise<Result<Answered<T>, Failure>> {
    if (result.ok || result.failure.status !== 404 || lacksOperation(result.failure)) return result;
    const lookup = isAddressable(operation, input) ? lookupOf(operation, input) : undefined;
    if (!lookup) return result;
    const found = await exchange(lookup.operation, lookup.input, readUnmasked);
    if (!found.ok || !lookup.finds(found.value.value)) return result;
    if (lookup.only !== undefined && !options.isSecond?.(operation, lookup.only)) return result;
    // A read that fails for one item says nothing about other items.
    if (!isRead(operation)) options.learn?.(operation, 501);
    return failed(absent(operation, result.failure));
  }

  // The typed signature for callers: AnswerOf takes its type from the schema that made the value.
  function call<O extends Operation>(operation: O, input?: CallInput): Promise<Result<AnswerOf<O>, Failure>>;
  async function call(operation: Operation, input: CallInput = {}): Promise<Result<unknown, Failure>> {
    const result = await confirmed(operation, input, readUnmasked);
    return result.ok ? ok(result.value.value) : result;
  }
  function passOn<O extends Operation>(operation: O, input?: CallInput): Promise<Result<Answered<AnswerOf<O>>, Failure>>;
  function passOn(operation: Operation, input: CallInput = {}): Promise<Result<Answered, Failure>> {
    return confirmed(operation, input, masked);
  }

  return {
    call,
    exchange: passOn,
    async catalogue(input = {}) {
      if (!options.readCatalogue) throw new Error("there is no reader of catalogues");
      const result = await confirmed(operations.getObjectInfo, input, options.readCatalogue);
      if (!result.ok) return result;
      const { status, value } = result.value;
      return value ? ok(value) : failed(unreadable(baseUrl, status, "its answer is empty"));
    },
    forward: async (operation, input = {}) => {
      const refused = await options.refusalOf?.(operation, input);
      if (refused) return failed(refused);
      if (!isAddressable(operation, input)) return failed(notAddressable());
      const how = { ...options, limitMs: input.limits?.exchangeMs ?? limits.readMs, now };
      return observedCall(operation, () => openBytes(how, operation, input));
    },
  };
}

function listingOf({ tells }: Operation): Operation | undefined {
  return tells === "job" ? operations.listJobs : tells === "asset" ? operations.listAssets : undefined;
}

function mostRowsOf({ query }: CallInput): number | undefined {
  const most = query?.max_items;
  return typeof most === "number" ? most : undefined;
}

function waitBeforeRetry(failure: Failure, backOffMs: number): number | undefined {
  const passing = isPlainRateLimit(failure) || [502, 503, 504].includes(failure.status);
  return passing ? (failure.retryAfterMs ?? backOffMs) : undefined;
}
