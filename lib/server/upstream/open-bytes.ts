// Opens content of a service as a stream. Redirects are followed without the key, even to the same origin (wire facts: signed URLs).

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { buildKeyHeader, buildRequest, buildUrl, type CallInput } from "./build-request";
import { createDeadline } from "./deadline";
import {
  createClientGoneFailure,
  createTimeoutFailure,
  createTooLargeFailure,
  createUnreachableFailure,
  createUnreadableFailure,
  toRefusalFailure,
} from "./failures";
import { createKeyRedactor } from "./key-redactor";
import { ResponseTooLargeError } from "./read-body";
import { type Send } from "./send";
import { readBytes } from "./streams";

const MAX_REDIRECTS = 5;
const MAX_REFUSAL_BYTES = 64 * 1024;

export type OpenOptions = {
  baseUrl: string;
  apiKey: string | undefined;
  send: Send;
  sendForeign?: Send;
  limitMs: number;
  now: () => number;
  record?: (operation: Operation, status: number) => void;
};

export async function openBytes(options: OpenOptions, operation: Operation, input: CallInput): Promise<Result<Response, Failure>> {
  const url = buildUrl(options.baseUrl, operation, input);
  const open = (signal: AbortSignal) => options.send(buildRequest(url, operation, input, options.apiKey, signal));
  return followRedirects(options, { operation, url, input, open, record: (status) => options.record?.(operation, status) });
}

/** For a URL that a service returned, such as a preview. The key is sent only to the service's own origin, not along redirects. */
export async function openUrl(options: OpenOptions, url: URL, input: CallInput): Promise<Result<Response, Failure>> {
  const isOwnOrigin = url.origin === new URL(options.baseUrl).origin;
  const inputWithKey = isOwnOrigin ? { ...input, headers: { ...input.headers, ...buildKeyHeader(options.apiKey) } } : input;
  return followRedirects(options, { url, input, open: (signal) => sendToUrl(options, url, inputWithKey, signal), record: () => undefined });
}

type OpenedExchange = {
  operation?: Operation;
  url: URL;
  input: CallInput;
  open(signal: AbortSignal): Promise<Response>;
  record(status: number): void;
};

async function followRedirects(options: OpenOptions, exchange: OpenedExchange): Promise<Result<Response, Failure>> {
  const { input } = exchange;
  const deadline = createDeadline(options.limitMs, input.signal);
  try {
    let { url } = exchange;
    let response = await exchange.open(deadline.signal);
    exchange.record(response.status);
    // A refusal by another host doesn't apply to the operation.
    const operation = response.status >= 400 ? exchange.operation : undefined;
    for (let hops = 0; response.status >= 300 && response.status < 400 && response.status !== 304; hops += 1) {
      await response.body?.cancel();
      const location = response.headers.get("location");
      if (hops === MAX_REDIRECTS) return failed(createUnreadableFailure(options.baseUrl, response.status, "it redirects too often"));
      if (location === null || !URL.canParse(location, url))
        return failed(createUnreadableFailure(options.baseUrl, response.status, "it redirects without a valid Location header"));
      url = new URL(location, url);
      response = await sendToUrl(options, url, input, deadline.signal);
    }
    if (response.status < 400 || isRefusedRange(response, input)) return ok(response);
    const body = await readBytes(response.body, MAX_REFUSAL_BYTES, { signal: deadline.signal });
    const text = body ? await createKeyRedactor(options.apiKey).redact(new TextDecoder().decode(body)) : "";
    return failed(toRefusalFailure(response, text, { operation, now: options.now() }));
  } catch (error) {
    // A local server's response that is too large to be translated is returned as sent.
    if (error instanceof ResponseTooLargeError)
      return error.whole ? ok(new Response(error.whole)) : failed(createTooLargeFailure(options.baseUrl, undefined));
    if (deadline.expired) return failed(createTimeoutFailure(options.baseUrl, options.limitMs));
    if (input.signal?.aborted) return failed(createClientGoneFailure());
    return failed(createUnreachableFailure(options.baseUrl, error));
  } finally {
    deadline.clear();
  }
}

/** A client that requested a range must get the 416 with the size. For all others, a 416 is an error. */
function isRefusedRange(response: Response, { headers }: CallInput): boolean {
  return response.status === 416 && headers?.range !== undefined;
}

async function sendToUrl(options: OpenOptions, url: URL, input: CallInput, signal: AbortSignal): Promise<Response> {
  const isOwnOrigin = url.origin === new URL(options.baseUrl).origin;
  const send = isOwnOrigin ? options.send : options.sendForeign;
  if (!send || (url.protocol !== "https:" && url.protocol !== "http:")) throw new Error("the URL is not allowed");
  const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity", ...input.headers });
  return send(new Request(url, { headers, signal, redirect: "manual" }));
}
