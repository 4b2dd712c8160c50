// HTTP requests to an untrusted ComfyUI server, with limits on bytes, values, depth and time.

import { type Readable } from "node:stream";
import { Agent, type FormData, request } from "undici";
import { type RunnerProblem } from "@/lib/contract/connections";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { maxExactNumbers, parseLenient, TooManyExactNumbersError } from "@/lib/contract/json/parse-json";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { createGuardedConnector } from "@/lib/shared/guarded-connector";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createComfyClient, type JsonBounds, toViewPath } from "./client";

const MAX_DEPTH = 200;

const NULL = Buffer.from("null");
const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

function createJsonMeter({ bytes: maxBytes, values: maxValues, keepDepth = Infinity }: JsonBounds) {
  const textParts: Uint8Array[] = [];
  let [bytes, values, skippedValues, depth] = [0, 0, 0, 0];
  let isInString = false;
  let isEscaped = false;

  /** Describes the exceeded limit, such as "more than 4 MB". Returns undefined within the limits. */
  function push(chunk: Uint8Array): string | undefined {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return `more than ${Math.round(maxBytes / 1024 ** 2)} MB`;
    let copyStart = depth > keepDepth ? -1 : 0;
    for (let index = 0; index < chunk.byteLength; index += 1) {
      const code = chunk[index];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (code === BACKSLASH) isEscaped = true;
        else if (code === QUOTE) isInString = false;
      } else if (code === QUOTE) isInString = true;
      else if (code === COMMA) {
        if (depth <= keepDepth) values += 1;
        if (values > maxValues) return `more than ${maxValues} values`;
      } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
        depth += 1;
        if (depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels`;
        if (depth <= keepDepth) values += 1;
        else if (depth === keepDepth + 1) {
          // Otherwise, invalid JSON without commas between values would bypass the limit.
          skippedValues += 1;
          if (skippedValues > maxValues) return `more than ${maxValues} values`;
          textParts.push(chunk.subarray(copyStart, index), NULL);
          copyStart = -1;
        }
      } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
        depth -= 1;
        if (depth === keepDepth) copyStart = index + 1;
      }
    }
    if (values > maxValues) return `more than ${maxValues} values`;
    if (copyStart >= 0) textParts.push(chunk.subarray(copyStart));
    return undefined;
  }

  return { push, getText: () => Buffer.concat(textParts).toString("utf8") };
}

export function meterJson(text: Uint8Array, bounds: JsonBounds): Result<string, string> {
  const meter = createJsonMeter(bounds);
  const excess = meter.push(text);
  return excess === undefined ? ok(meter.getText()) : failed(excess);
}

export async function meterJsonStream(message: ReadableStream<Uint8Array>, bounds: JsonBounds): Promise<Result<string, string>> {
  const meter = createJsonMeter(bounds);
  // Leaving the loop cancels the stream.
  for await (const chunk of message) {
    const excess = meter.push(chunk);
    if (excess !== undefined) return failed(excess);
  }
  return ok(meter.getText());
}

/** `status` is that of the response, if any. `wasSent` is false if the request cannot have reached the server. */
export type ExchangeFailure = { code: RunnerProblem; message: string; status?: number; body?: string; wasSent: boolean };

const CONNECT_TIMEOUT_MS = 5000;
const RESPONSE_TIMEOUT_MS = 15_000;
/** Maximum time between two chunks of the body. */
const BODY_IDLE_TIMEOUT_MS = 30_000;
/** Maximum total time for a body. Otherwise, a server that sends a few bytes at a time would never time out. */
const BODY_TIMEOUT_MS = 120_000;
/** Minimum average speed of uploads and downloads. */
export const MIN_BYTES_PER_MS = 16;
const RESPONSE_BOUNDS: JsonBounds = { bytes: 4 * 1024 ** 2, values: 100_000 };
const ERROR_BOUNDS: JsonBounds = { bytes: 1024 ** 2, values: 100_000 };

const agent = new Agent({
  connect: createGuardedConnector(CONNECT_TIMEOUT_MS),
  connections: 32,
  headersTimeout: RESPONSE_TIMEOUT_MS,
  bodyTimeout: BODY_IDLE_TIMEOUT_MS,
  keepAliveTimeout: 4000,
});

type RequestOptions = {
  body?: object;
  form?: FormData;
  formBytes?: number;
  signal?: AbortSignal | undefined;
  /** Maximum time to the response headers. */
  responseTimeoutMs?: number | undefined;
  headers?: Record<string, string>;
  bounds?: JsonBounds;
};

async function sendRequest(baseUrl: string, path: string, { body, form, headers, responseTimeoutMs, signal }: RequestOptions) {
  const response = await request(baseUrl + path, {
    method: body || form ? "POST" : "GET",
    dispatcher: agent,
    headers: { "user-agent": "lightdesk", ...(body && { "content-type": "application/json" }), ...headers },
    body: form ?? (body ? writeExactJson(body) : null),
    ...(responseTimeoutMs !== undefined && { headersTimeout: responseTimeoutMs }),
    ...(signal && { signal }),
  });
  // A cancelled body emits an error that nothing else handles.
  response.body.on("error", () => undefined);
  return response;
}

async function requestJson(baseUrl: string, path: string, options: RequestOptions = {}): Promise<Result<unknown, ExchangeFailure>> {
  try {
    const { responseTimeoutMs = RESPONSE_TIMEOUT_MS, formBytes = 0 } = options;
    const timeoutSignal = AbortSignal.timeout(responseTimeoutMs + BODY_TIMEOUT_MS + Math.ceil(formBytes / MIN_BYTES_PER_MS));
    const signal = options.signal ? AbortSignal.any([options.signal, timeoutSignal]) : timeoutSignal;
    const { statusCode, body } = await sendRequest(baseUrl, path, { ...options, signal });
    const isSuccess = statusCode >= 200 && statusCode < 300;
    const meter = createJsonMeter(isSuccess ? (options.bounds ?? RESPONSE_BOUNDS) : ERROR_BOUNDS);
    for await (const chunk of body) {
      const excess = chunk instanceof Uint8Array ? meter.push(chunk) : undefined;
      if (excess !== undefined) return failed(createTooLargeFailure(path, excess)); // returning ends the request
    }
    const text = meter.getText();
    if (!isSuccess) return failed(toStatusFailure(statusCode, text));
    return ok(text.trim() === "" ? undefined : parseLenient(text, maxExactNumbers.response));
  } catch (error) {
    if (error instanceof TooManyExactNumbersError) return failed(createTooLargeFailure(path, error.excess));
    return failed(
      error instanceof SyntaxError ? createInvalidResponseFailure("Its response is not JSON.") : toExchangeFailure(error, baseUrl),
    );
  }
}

/** The caller must read or destroy `bytes`. `size` is that of the complete file, from the headers. */
type FileStream = { bytes: Readable; size: number | undefined };

async function openFile(baseUrl: string, path: string, options: RequestOptions = {}): Promise<Result<FileStream, ExchangeFailure>> {
  try {
    const { statusCode, headers, body } = await sendRequest(baseUrl, path, options);
    if (statusCode !== 200 && statusCode !== 206) {
      body.destroy();
      return failed(toStatusFailure(statusCode, ""));
    }
    const range = headers["content-range"];
    const size = range === undefined ? Number(headers["content-length"] ?? NaN) : Number(/\/(\d+)$/.exec(String(range))?.[1]);
    return ok({ bytes: body, size: Number.isSafeInteger(size) ? size : undefined });
  } catch (error) {
    return failed(toExchangeFailure(error, baseUrl));
  }
}

/** The server exceeded a limit. A runner gets no more jobs until someone resumes it. */
export function createLimitFailure(message: string): ExchangeFailure {
  return { code: "over_limits", message, wasSent: true };
}

const createTooLargeFailure = (path: string, excess: string) =>
  createLimitFailure(`Its response to ${path.replace(/\?.*/, "")} has ${excess}.`);

export function createInvalidResponseFailure(message: string): ExchangeFailure {
  return { code: "not_a_server", message, wasSent: true };
}

function toStatusFailure(status: number, body: string): ExchangeFailure {
  const details = { status, body, wasSent: true };
  if (status >= 300 && status < 400)
    return { ...details, code: "redirects", message: `It redirects (${status}). Enter the address it redirects to.` };
  if (status === 401 || status === 407)
    return { ...details, code: "cloud_service", message: `It requires an API key (${status}), which runners don't support.` };
  if (status >= 500) return { ...details, code: "failing", message: `It responds with status ${status}.` };
  return { ...details, code: "not_a_server", message: `It responds with status ${status} instead of 200.` };
}

const notSentPattern =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|FORBIDDEN_ADDRESS)$|^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)|CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS/;

function toExchangeFailure(error: unknown, baseUrl: string): ExchangeFailure {
  const code = findErrorCode(error);
  if (/HEADERS?_OVERFLOW$/.test(code)) return createLimitFailure("Its response headers are too long.");
  return { ...describeProblem(code, baseUrl), wasSent: !notSentPattern.test(code) };
}

function describeProblem(code: string, baseUrl: string): { code: RunnerProblem; message: string } {
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return { code: "wrong_protocol", message: "It uses http, but the address starts with https." };
  if (code.startsWith("HPE_"))
    return {
      code: baseUrl.startsWith("http:") ? "wrong_protocol" : "not_reachable",
      message: "It doesn't use http. Try https.",
    };
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET") return { code: "not_reachable", message: "The connection was closed." };
  if (/TIMEOUT|^ABORT/.test(code)) return { code: "timeout", message: "It did not respond in time." };
  if (code === "FORBIDDEN_ADDRESS") return { code: "not_reachable", message: "This address is not allowed." };
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS/.test(code))
    return { code: "wrong_protocol", message: "This machine doesn't trust its certificate." };
  return { code: "not_reachable", message: code === "ENOTFOUND" ? "The host name doesn't exist." : "No server responds there." };
}

function findErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error.name === "AbortError" || error.name === "TimeoutError") return "ABORTED";
  return error.cause === undefined ? "" : findErrorCode(error.cause);
}

export type ComfyServer = ReturnType<typeof createComfyServer>;

export function createComfyServer(baseUrl: string, signal?: AbortSignal, timeoutMs?: number) {
  return {
    ...createComfyClient<ExchangeFailure>(
      (path, options) => requestJson(baseUrl, path, { signal, responseTimeoutMs: timeoutMs, ...options }),
      createInvalidResponseFailure,
    ),
    upload: (form: FormData, formBytes: number) => requestJson(baseUrl, "/upload/image", { signal, form, formBytes }),
    open: (file: OutputFile, headers?: Record<string, string>) =>
      openFile(baseUrl, toViewPath(file), { signal, ...(headers && { headers }) }),
  };
}
