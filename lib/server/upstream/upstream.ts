// The API client of one connection. Reads are retried on rate limits, 502, 503 and 504. Nothing else is sent twice.

import "server-only";
import { type Failure, isMissingOperation, isPlainRateLimit } from "@/lib/contract/failure";
import { getOwn } from "@/lib/contract/json/json";
import { recordSkipped } from "@/lib/contract/json/readers";
import { isRead, type Operation, type ResponseOf } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { sleep } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { observe } from "@/lib/shared/telemetry";
import { buildRawPath, buildRequest, buildUrl, type CallInput, isAddressable } from "./build-request";
import { type Catalogue, type JsonReader, type ReadResult } from "./catalogue-reader";
import { type AbortRead, createDeadline, type ResponseTracker } from "./deadline";
import {
  createClientGoneFailure,
  createInvalidIdFailure,
  createNotImplementedFailure,
  createTimeoutFailure,
  createTooLargeFailure,
  createUnreachableFailure,
  createUnreadableFailure,
  findLookup,
  toRefusalFailure,
  toUpstreamNotFound,
} from "./failures";
import { createKeyRedactor } from "./key-redactor";
import { openBytes } from "./open-bytes";
import { findExpectedResponse, isLargeResponse, MAX_INLINE_BYTES, MAX_JSON_BYTES, readBody, ResponseTooLargeError } from "./read-body";
import { type ParsedResponses, SHARED_MS } from "./response-cache";
import { type ResponseReader } from "./response-reader";
import { type Send } from "./send";
import { readBytes, watchChunks } from "./streams";

const MAX_REFUSAL_BYTES = 1024 * 1024;

type UpstreamResponse<T = unknown> = { status: number; value: T };

type ResponseContext<T> = {
  operation: Operation;
  baseUrl: string;
  apiKey: string | undefined;
  now: number;
  signal: AbortSignal;
  readJson(): Promise<ReadResult<T>>;
};

async function readResponse<T>(response: Response, context: ResponseContext<T>): Promise<Result<UpstreamResponse<T | undefined>, Failure>> {
  const { operation, baseUrl, now, apiKey, signal } = context;
  const keyRedactor = createKeyRedactor(apiKey);
  if (response.status >= 400) {
    const body = await readBytes(response.body, MAX_REFUSAL_BYTES, { signal });
    return failed(toRefusalFailure(response, body ? await keyRedactor.redact(decodeText(body)) : "", { operation, now }));
  }
  if (response.status >= 300) {
    await response.body?.cancel();
    return failed(createUnreadableFailure(baseUrl, response.status, `it redirects (${response.status})`));
  }
  const expectedResponse = findExpectedResponse(operation, response.status);
  if (expectedResponse?.kind !== "json") {
    await response.body?.cancel();
    return ok({ status: response.status, value: undefined });
  }
  if (/^\s*text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
    await response.body?.cancel();
    return failed(createUnreadableFailure(baseUrl, response.status, "it returned a web page"));
  }
  const json = await context.readJson();
  return json.ok
    ? ok({ status: response.status, value: json.value })
    : failed(createUnreadableFailure(baseUrl, response.status, json.reason));
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const outcomesByCode: Readonly<Record<string, string>> = {
  UPSTREAM_UNREACHABLE: "unreachable",
  UPSTREAM_UNREADABLE: "unreadable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_REFUSED_KEY: "key refused",
  RATE_LIMITED: "rate limited",
  CLIENT_GONE: "given up",
};

function observeCall<T extends { status: number }>(
  { name }: Operation,
  call: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  return observe(
    {
      spanName: `call ${name}`,
      attributes: { operation: name },
      getOutcome: (result) =>
        result.ok ? "ok" : (getOwn(outcomesByCode, result.failure.code) ?? (result.failure.status >= 500 ? "error" : "refused")),
      getStatus: (result) => (result.ok ? result.value : result.failure).status,
      recordMetrics(metrics, outcome, seconds) {
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
  /** Timeout of a read that blocks a page while the service responds to nothing else. */
  unresponsiveMs: number;
  /** Timeout of a change. For uploads, the time without progress. */
  writeMs: number;
  jsonBytes: number;
  attempts: number;
  firstRetryMs: number;
  /** If a service requests a longer wait, the call fails with that wait. */
  maxWaitMs: number;
  /** How long a read of jobs is shared between requests with the same rights. */
  sharedMs: number;
};
const DEFAULT_LIMITS: UpstreamLimits = {
  readMs: 30_000,
  pageMs: 10_000,
  unresponsiveMs: 5_000,
  writeMs: 60_000,
  jsonBytes: MAX_JSON_BYTES,
  attempts: 3,
  firstRetryMs: 250,
  maxWaitMs: 3000,
  sharedMs: SHARED_MS,
};

export type UpstreamOptions = {
  baseUrl: string;
  apiKey: string | undefined;
  send: Send;
  /** For URLs outside the base URL's origin that the service returns. Guarded, and always without the key. */
  sendForeign?: Send;
  now?: () => number;
  limits?: Partial<UpstreamLimits>;
  record?: (operation: Operation, status: number) => void;
  /** True if the operation refused a different item before and has accepted none. */
  isSecondRefusal?: (operation: Operation, item: string) => boolean;
  onResponse?: (operation: Operation, response: unknown) => void;
  /** Called before each call. Returns the failure if the call is not allowed. */
  findRefusal?: (operation: Operation, input: CallInput) => Promise<Failure | undefined>;
  responseReader?: ResponseReader;
  /** Caches parsed job responses of up to 1 MiB, so that unchanged ones are not parsed and masked again. */
  parsedResponses?: ParsedResponses;
  /** Called when a change is sent, and again when it has ended. */
  onChange?: () => void;
  readCatalogue?: JsonReader<Catalogue>;
  /** Part of the download path of a response that is too large. */
  connectionId?: string;
  /** `service` is shared by all calls of a connection to one base URL. */
  responseTracker?: { tracker: ResponseTracker; service: string };
};

export type Upstream = {
  /** For the console's own use: the key is redacted, but secrets are not masked. */
  call<O extends Operation>(operation: O, input?: CallInput): Promise<Result<ResponseOf<O>, Failure>>;
  /** For browsers: masked, and with the service's status. */
  exchange<O extends Operation>(operation: O, input?: CallInput): Exchange<ResponseOf<O>>;
  /** The full node catalogue, masked. */
  catalogue(input?: CallInput): Promise<Result<Catalogue, Failure>>;
  /** The content as a stream. Redirects to stored bytes are followed without the key. */
  forward(operation: Operation, input?: CallInput): Promise<Result<Response, Failure>>;
};

type Exchange<T> = Promise<Result<UpstreamResponse<T>, Failure>>;

export function createUpstream(options: UpstreamOptions): Upstream {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { baseUrl, apiKey, now = Date.now } = options;

  function createJsonReader(isMasked: boolean): JsonReader<unknown> {
    return async (response, readOptions, signal) => {
      const bytes = await readBytes(response.body, limits.jsonBytes, { signal });
      if (bytes === undefined) throw new ResponseTooLargeError();
      const cacheKey = isMasked && bytes.byteLength <= MAX_INLINE_BYTES ? readOptions.cacheKey : undefined;
      const cachedResponse = cacheKey === undefined ? undefined : options.parsedResponses?.find(cacheKey, bytes);
      if (cachedResponse) return cachedResponse;
      const responseReader = isLargeResponse(bytes) ? options.responseReader : undefined;
      // The worker takes over the bytes, but cached ones are compared with the next response.
      const result = await (responseReader
        ? responseReader.readLargeValue(cacheKey === undefined ? bytes : bytes.slice(), { ...readOptions, isMasked }, signal)
        : readBody(bytes, { ...readOptions, isMasked: false }));
      if (!result.ok) return result;
      // Passed unmasked if possible, because a masked preview URL can't be opened.
      options.onResponse?.(readOptions.operation, result.value);
      const value = isMasked && !responseReader ? maskSecrets(result.value, apiKey === undefined ? [] : [apiKey]) : result.value;
      // The worker's values and masked ones are copies without the count.
      if (typeof value === "object" && value !== null) recordSkipped(value, result.skipped);
      if (cacheKey !== undefined) options.parsedResponses?.set(cacheKey, bytes, ok(value));
      return ok(value);
    };
  }
  const readUnmaskedJson = createJsonReader(false);
  const readMaskedJson = createJsonReader(true);

  /** With `readState`, an unresponsive read may be aborted. `hasOtherResponse` is set if another request got a response first. */
  async function exchangeOnce<T>(
    operation: Operation,
    input: CallInput,
    reader: JsonReader<T>,
    readState?: { hasOtherResponse: boolean },
  ): Promise<Result<UpstreamResponse<T | undefined>, Failure>> {
    const isReadOperation = isRead(operation);
    if (!isReadOperation) options.onChange?.();
    const readMs = input.waiter === "page" ? Math.min(limits.pageMs, limits.readMs) : limits.readMs;
    const limitMs = input.limits?.exchangeMs ?? (isReadOperation ? readMs : limits.writeMs);
    const deadline = createDeadline(limitMs, input.signal);
    let quietMs = limitMs;
    const abortRead: AbortRead = (reason) => {
      if (reason !== "answered") quietMs = reason.quietMs;
      else if (readState) readState.hasOtherResponse = true;
      deadline.expire();
    };
    const { responseTracker } = options;
    let endRead = readState && responseTracker?.tracker.startRead(responseTracker.service, limits.unresponsiveMs, abortRead);
    // After the headers, the body gets the full time, because the service is responsive.
    const onHeaders = () => {
      endRead?.();
      endRead = undefined;
      responseTracker?.tracker.recordResponse(responseTracker.service);
    };
    const watchedInput = input.body && { ...input, body: { ...input.body, stream: watchChunks(input.body.stream, deadline.touch) } };
    try {
      const url = buildUrl(baseUrl, operation, input);
      const request = buildRequest(url, operation, watchedInput ?? input, apiKey, deadline.signal);
      const response = await options.send(request, onHeaders);
      onHeaders();
      options.record?.(operation, response.status);
      const cacheKey = operation.reads === "jobs" ? `${response.status} ${url.href}` : undefined;
      const readOptions = { operation, status: response.status, apiKey, maxRows: getMaxRows(input), cacheKey };
      const readJson = () => reader(response, readOptions, deadline.signal);
      return await readResponse(response, { operation, baseUrl, apiKey, now: now(), signal: deadline.signal, readJson });
    } catch (error) {
      if (deadline.expired) return failed(createTimeoutFailure(baseUrl, quietMs));
      if (input.signal?.aborted) return failed(createClientGoneFailure());
      if (error instanceof ResponseTooLargeError) {
        error.discard();
        return failed(createTooLargeFailure(baseUrl, buildRawPath(operation, input, options.connectionId)));
      }
      return failed(createUnreachableFailure(baseUrl, error));
    } finally {
      if (!isReadOperation) options.onChange?.();
      endRead?.();
      deadline.clear();
    }
  }

  async function exchange<T>(operation: Operation, input: CallInput, reader: JsonReader<T>): Exchange<T | undefined> {
    if (!isAddressable(operation, input)) return failed(createInvalidIdFailure());
    const attempts = input.limits?.attempts ?? limits.attempts;
    for (let attempt = 1; ; attempt += 1) {
      const readState = isRead(operation) && input.waiter ? { hasOtherResponse: false } : undefined;
      let result = await observeCall(operation, () => exchangeOnce(operation, input, reader, readState));
      // The read's connection may be dead while the service is up again, so try once more, with the full time.
      if (!result.ok && readState?.hasOtherResponse) result = await observeCall(operation, () => exchangeOnce(operation, input, reader));
      if (result.ok || operation.method !== "GET" || attempt >= attempts) return result;
      const waitMs = getRetryDelayMs(result.failure, limits.firstRetryMs * 2 ** (attempt - 1));
      if (waitMs === undefined || waitMs > limits.maxWaitMs) return result;
      if (!(await sleep(waitMs, { signal: input.signal }))) return failed(createClientGoneFailure());
    }
  }

  /** A 404 for a job or an asset is requested once more, and counts only while the service finds other jobs or assets. */
  async function exchangeConfirmed<T>(operation: Operation, input: CallInput, reader: JsonReader<T>): Exchange<T | undefined> {
    const refusalFailure = await options.findRefusal?.(operation, input);
    if (refusalFailure) return failed(refusalFailure);
    const result = await exchange(operation, input, reader);
    const listOperation = getListOperation(operation);
    if (!listOperation) return detectMissingOperation(operation, input, result);
    if (result.ok || result.failure.status !== 404 || !isAddressable(operation, input)) return result;
    if (!(await sleep(limits.firstRetryMs, { signal: input.signal }))) return failed(createClientGoneFailure());
    const secondResult = await exchange(operation, input, reader);
    if (secondResult.ok || secondResult.failure.status !== 404) return secondResult;
    const listResult = await exchange(
      listOperation,
      { query: { offset: 0, limit: 1 }, signal: input.signal, limits: input.limits },
      readUnmaskedJson,
    );
    return !listResult.ok && listResult.failure.status === 404 ? failed(toUpstreamNotFound(secondResult.failure)) : secondResult;
  }

  /** A 404 of an extension means a missing operation if its item exists and allows the operation. */
  async function detectMissingOperation<T>(
    operation: Operation,
    input: CallInput,
    result: Result<UpstreamResponse<T>, Failure>,
  ): Exchange<T> {
    if (result.ok || result.failure.status !== 404 || isMissingOperation(result.failure)) return result;
    const lookup = isAddressable(operation, input) ? findLookup(operation, input) : undefined;
    if (!lookup) return result;
    const lookupResult = await exchange(lookup.operation, lookup.input, readUnmaskedJson);
    if (!lookupResult.ok || !lookup.matches(lookupResult.value.value)) return result;
    if (lookup.uncertainItem !== undefined && !options.isSecondRefusal?.(operation, lookup.uncertainItem)) return result;
    // A read that fails for one item proves nothing about others.
    if (!isRead(operation)) options.record?.(operation, 501);
    return failed(createNotImplementedFailure(operation, result.failure));
  }

  // The typed signature for callers. ResponseOf is the type of the schema that produced the value.
  function call<O extends Operation>(operation: O, input?: CallInput): Promise<Result<ResponseOf<O>, Failure>>;
  async function call(operation: Operation, input: CallInput = {}): Promise<Result<unknown, Failure>> {
    const result = await exchangeConfirmed(operation, input, readUnmaskedJson);
    return result.ok ? ok(result.value.value) : result;
  }
  function exchangeMasked<O extends Operation>(operation: O, input?: CallInput): Exchange<ResponseOf<O>>;
  function exchangeMasked(operation: Operation, input: CallInput = {}): Exchange<unknown> {
    return exchangeConfirmed(operation, input, readMaskedJson);
  }

  return {
    call,
    exchange: exchangeMasked,
    async catalogue(input = {}) {
      if (!options.readCatalogue) throw new Error("no catalogue reader is configured");
      const result = await exchangeConfirmed(operations.getObjectInfo, input, options.readCatalogue);
      if (!result.ok) return result;
      const { status, value } = result.value;
      return value ? ok(value) : failed(createUnreadableFailure(baseUrl, status, "its response is empty"));
    },
    forward: async (operation, input = {}) => {
      const refusalFailure = await options.findRefusal?.(operation, input);
      if (refusalFailure) return failed(refusalFailure);
      if (!isAddressable(operation, input)) return failed(createInvalidIdFailure());
      const openOptions = { ...options, limitMs: input.limits?.exchangeMs ?? limits.readMs, now };
      return observeCall(operation, () => openBytes(openOptions, operation, input));
    },
  };
}

function getListOperation({ subject }: Operation): Operation | undefined {
  return subject === "job" ? operations.listJobs : subject === "asset" ? operations.listAssets : undefined;
}

function getMaxRows({ query }: CallInput): number | undefined {
  const maxItems = query?.max_items;
  return typeof maxItems === "number" ? maxItems : undefined;
}

function getRetryDelayMs(failure: Failure, backOffMs: number): number | undefined {
  const isTemporary = isPlainRateLimit(failure) || [502, 503, 504].includes(failure.status);
  return isTemporary ? (failure.retryAfterMs ?? backOffMs) : undefined;
}
