// The client of the interface for one connection: calls that answer parsed JSON, uploads that stream, bytes that stream back.
// Guarantees: every outcome is a Result; the key is sent only to the base URL's origin; a GET is tried again on a plain rate limit, 502,
// 503 and 504, at most twice and honouring Retry-After; nothing else is ever sent twice.
// Must never: follow a redirect with the key, or hold a body that streams.

import "server-only";
import { type Failure, isPlainRateLimit, lacksOperation } from "@/lib/contract/failure";
import { own } from "@/lib/contract/json/own";
import { noteSkipped } from "@/lib/contract/json/readers";
import { type AnswerOf, isRead, type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { sleep } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { observed } from "@/lib/shared/telemetry";
import { createDeadline, type GiveUp, type Silences } from "./deadline";
import {
  callerWentAway,
  lacksIt,
  lookupOf,
  notAddressable,
  nothingThere,
  refusal,
  timedOut,
  unreachable,
  unreadable,
  UnreadableAnswer,
} from "./failures";
import { keyGate } from "./key-gate";
import { LARGE_ANSWER, type LargeAnswers } from "./large-answers";
import { openBytes } from "./open-bytes";
import { type CallInput, isAddressable, toRequest, toUrl } from "./outgoing";
import { answerFor, readBody, TOO_LARGE } from "./read-body";
import { type Send } from "./send";
import { readBytes, watched } from "./streams";

const MAX_REFUSAL_LENGTH = 1024 * 1024;

type Answered = { status: number; value: unknown };

type Context = {
  operation: Operation;
  baseUrl: string;
  apiKey: string | undefined;
  jsonBytes: number;
  now: number;
  mostRows: number | undefined;
  signal: AbortSignal;
  /** The answer is only passed on: large parts of it may stay JSON text. */
  isPassedOn: boolean;
  /** Without it, large answers are read in the main thread. */
  largeAnswers: LargeAnswers | undefined;
};

async function readAnswer(answer: Response, context: Context): Promise<Result<Answered, Failure>> {
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
  const bytes = await readBytes(answer.body, context.jsonBytes);
  if (bytes === undefined) return failed(unreadable(baseUrl, answer.status, TOO_LARGE));
  const how = { operation, status: answer.status, apiKey, mostRows: context.mostRows };
  const elsewhere = bytes.byteLength > LARGE_ANSWER ? context.largeAnswers : undefined;
  const read = await (elsewhere ? elsewhere.read(bytes, { ...how, isPassedOn: context.isPassedOn }, context.signal) : readBody(bytes, how));
  if (!read.ok) return failed(unreadable(baseUrl, answer.status, read.why));
  const { value, skipped = 0 } = read;
  // A list that the worker thread read is a copy and lacks the count.
  return ok({ status: answer.status, value: typeof value === "object" && value !== null ? noteSkipped(value, skipped) : value });
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
  /** Until a read must be answered completely. */
  readMs: number;
  /** Until a read that a page waits for is given up. */
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
  jsonBytes: 64 * 1024 ** 2,
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
  largeAnswers?: LargeAnswers;
  /** `service`: a name shared by all calls of a connection at one address. */
  silences?: { of: Silences; service: string };
};

export type Upstream = {
  call<O extends Operation>(operation: O, input?: CallInput): Promise<Result<AnswerOf<O>, Failure>>;
  /** Like `call`, with the service's status, for answers that are passed on: large parts may be written JSON (`LargeAnswers`). */
  exchange(operation: Operation, input?: CallInput): Promise<Result<Answered, Failure>>;
  /** The content itself, as a stream; redirects to stored bytes are followed without the key. */
  forward(operation: Operation, input?: CallInput): Promise<Result<Response, Failure>>;
};

export function createUpstream(options: UpstreamOptions): Upstream {
  const limits = { ...usualLimits, ...options.limits };
  const now = options.now ?? Date.now;
  const { baseUrl, apiKey } = options;

  /** `wait`: the read may be given up for a silence. `isAnsweredElsewhere` is set if that was because another request got an answer. */
  async function once(
    operation: Operation,
    input: CallInput,
    isPassedOn: boolean,
    wait?: { isAnsweredElsewhere: boolean },
  ): Promise<Result<Answered, Failure>> {
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
      const { largeAnswers } = options;
      const how = {
        operation,
        baseUrl,
        apiKey,
        jsonBytes: limits.jsonBytes,
        now: now(),
        mostRows: mostRowsOf(input),
        signal,
        isPassedOn: isPassedOn && reads,
        largeAnswers,
      };
      return await readAnswer(answer, how);
    } catch (error) {
      if (deadline.expired) return failed(timedOut(baseUrl, quietMs));
      if (input.signal?.aborted) return failed(callerWentAway());
      if (error instanceof UnreadableAnswer) return failed(unreadable(baseUrl, 200, error.why));
      return failed(unreachable(baseUrl, error));
    } finally {
      endWait?.();
      deadline.clear();
    }
  }

  async function exchange(operation: Operation, input: CallInput, isPassedOn = false): Promise<Result<Answered, Failure>> {
    if (!isAddressable(operation, input)) return failed(notAddressable());
    const attempts = input.limits?.attempts ?? limits.attempts;
    for (let attempt = 1; ; attempt += 1) {
      const wait = isRead(operation) && input.waits ? { isAnsweredElsewhere: false } : undefined;
      let result = await observedCall(operation, () => once(operation, input, isPassedOn, wait));
      // The read's connection may be dead while the service is back: try once more. If it is only slow, this try has the full time.
      if (!result.ok && wait?.isAnsweredElsewhere) result = await observedCall(operation, () => once(operation, input, isPassedOn));
      if (result.ok) options.onAnswer?.(operation, result.value.value);
      if (result.ok || operation.method !== "GET" || attempt >= attempts) return result;
      const waitMs = waitBeforeRetry(result.failure, limits.firstRetryMs * 2 ** (attempt - 1));
      if (waitMs === undefined || waitMs > limits.longestWaitMs) return result;
      if (!(await sleep(waitMs, { signal: input.signal }))) return failed(callerWentAway());
    }
  }

  /** A 404 of a job or an asset is requested once more; it counts only while the service finds other jobs or assets. */
  async function confirmed(operation: Operation, input: CallInput, isPassedOn = false): Promise<Result<Answered, Failure>> {
    const refused = await options.refusalOf?.(operation, input);
    if (refused) return failed(refused);
    const result = await exchange(operation, input, isPassedOn);
    const listing = listingOf(operation);
    if (!listing) return decided(operation, input, result);
    if (result.ok || result.failure.status !== 404 || !isAddressable(operation, input)) return result;
    if (!(await sleep(limits.firstRetryMs, { signal: input.signal }))) return failed(callerWentAway());
    const again = await exchange(operation, input, isPassedOn);
    if (again.ok || again.failure.status !== 404) return again;
    const list = await exchange(listing, { query: { offset: 0, limit: 1 }, signal: input.signal, limits: input.limits });
    return !list.ok && list.failure.status === 404 ? failed(nothingThere(again.failure)) : again;
  }

  /** A 404 of an extension is about the operation if the item it was asked for exists and allows the operation. */
  async function decided(operation: Operation, input: CallInput, result: Result<Answered, Failure>): Promise<Result<Answered, Failure>> {
    if (result.ok || result.failure.status !== 404 || lacksOperation(result.failure)) return result;
    const lookup = isAddressable(operation, input) ? lookupOf(operation, input) : undefined;
    if (!lookup) return result;
    const found = await exchange(lookup.operation, lookup.input);
    if (!found.ok || !lookup.finds(found.value.value)) return result;
    if (lookup.only !== undefined && !options.isSecond?.(operation, lookup.only)) return result;
    // A read that fails for one item says nothing about other items.
    if (!isRead(operation)) options.learn?.(operation, 501);
    return failed(lacksIt(result.failure));
  }

  // The typed signature for callers: AnswerOf takes its type from the schema that made the value.
  function call<O extends Operation>(operation: O, input?: CallInput): Promise<Result<AnswerOf<O>, Failure>>;
  async function call(operation: Operation, input: CallInput = {}): Promise<Result<unknown, Failure>> {
    const result = await confirmed(operation, input);
    return result.ok ? ok(result.value.value) : result;
  }

  return {
    call,
    exchange: (operation, input = {}) => confirmed(operation, input, true),
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
