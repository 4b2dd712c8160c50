// Opens content of a service as a stream. Redirects are followed without the key, even to the same origin (wire facts: signed URLs).

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createDeadline } from "./deadline";
import { clientGone, refusal, timedOut, tooLarge, unreachable, unreadable } from "./failures";
import { createKeyGate } from "./key-gate";
import { buildKeyHeader, buildRequest, buildUrl, type CallInput } from "./outgoing";
import { TooLargeAnswer } from "./read-body";
import { type Send } from "./send";
import { readBytes } from "./streams";

const MAX_HOPS = 5;
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
export async function openAddress(options: OpenOptions, url: URL, input: CallInput): Promise<Result<Response, Failure>> {
  const isOwnOrigin = url.origin === new URL(options.baseUrl).origin;
  const withKey = isOwnOrigin ? { ...input, headers: { ...input.headers, ...buildKeyHeader(options.apiKey) } } : input;
  return followRedirects(options, { url, input, open: (signal) => sendToUrl(options, url, withKey, signal), record: () => undefined });
}

type OpenedExchange = {
  operation?: Operation;
  url: URL;
  input: CallInput;
  open(signal: AbortSignal): Promise<Response>;
  record(status: number): void;
};

async function followRedirects(options: OpenOptions, opened: OpenedExchange): Promise<Result<Response, Failure>> {
  const { input } = opened;
  const deadline = createDeadline(options.limitMs, input.signal);
  try {
    let { url } = opened;
    let response = await opened.open(deadline.signal);
    opened.record(response.status);
    // A refusal by another host says nothing about the operation.
    const operation = response.status >= 400 ? opened.operation : undefined;
    for (let hops = 0; response.status >= 300 && response.status < 400 && response.status !== 304; hops += 1) {
      await response.body?.cancel();
      const location = response.headers.get("location");
      if (hops === MAX_HOPS || location === null || !URL.canParse(location, url))
        return failed(unreadable(options.baseUrl, response.status, "it redirects without a Location header"));
      url = new URL(location, url);
      response = await sendToUrl(options, url, input, deadline.signal);
    }
    if (response.status < 400 || isRefusedRange(response, input)) return ok(response);
    const body = await readBytes(response.body, MAX_REFUSAL_BYTES);
    const text = body ? await createKeyGate(options.apiKey).text(new TextDecoder().decode(body)) : "";
    return failed(refusal(response, text, { operation, now: options.now() }));
  } catch (error) {
    // A local server's response that is too large to be translated is returned as sent.
    if (error instanceof TooLargeAnswer) return error.whole ? ok(new Response(error.whole)) : failed(tooLarge(options.baseUrl, undefined));
    if (deadline.expired) return failed(timedOut(options.baseUrl, options.limitMs));
    if (input.signal?.aborted) return failed(clientGone());
    return failed(unreachable(options.baseUrl, error));
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
  if (!send || (url.protocol !== "https:" && url.protocol !== "http:")) throw new Error("the address may not be opened");
  const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity", ...input.headers });
  return send(new Request(url, { headers, signal, redirect: "manual" }));
}
