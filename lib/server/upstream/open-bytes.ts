// Opens content of a service as a stream. Redirects are followed without the key, even to the same origin (wire facts: signed URLs).

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { createDeadline } from "./deadline";
import { callerWentAway, refusal, timedOut, tooLarge, unreachable, unreadable } from "./failures";
import { keyGate } from "./key-gate";
import { type CallInput, keyHeader, toRequest, toUrl } from "./outgoing";
import { TooLargeAnswer } from "./read-body";
import { type Send } from "./send";
import { readBytes } from "./streams";

const MAX_HOPS = 5;
const MAX_REFUSAL = 64 * 1024;

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
  const url = toUrl(options.baseUrl, operation, input);
  const open = (signal: AbortSignal) => options.send(toRequest(url, operation, input, options.apiKey, signal));
  return follow(options, { operation, url, input, open, record: (status) => options.record?.(operation, status) });
}

/** For an address that a service named, such as a preview. The key is sent only to the service's own origin, not along redirects. */
export async function openAddress(options: OpenOptions, url: URL, input: CallInput): Promise<Result<Response, Failure>> {
  const own = url.origin === new URL(options.baseUrl).origin;
  const withKey = own ? { ...input, headers: { ...input.headers, ...keyHeader(options.apiKey) } } : input;
  return follow(options, { url, input, open: (signal) => hop(options, url, withKey, signal), record: () => undefined });
}

type RedirectState = {
  operation?: Operation;
  url: URL;
  input: CallInput;
  open(signal: AbortSignal): Promise<Response>;
  record(status: number): void;
};

async function follow(options: OpenOptions, journey: RedirectState): Promise<Result<Response, Failure>> {
  const { input } = journey;
  const deadline = createDeadline(options.limitMs, input.signal);
  try {
    let { url } = journey;
    let response = await journey.open(deadline.signal);
    journey.record(response.status);
    // A refusal by another host proves nothing about the operation.
    const operation = response.status >= 400 ? journey.operation : undefined;
    for (let hops = 0; response.status >= 300 && response.status < 400 && response.status !== 304; hops += 1) {
      await response.body?.cancel();
      const location = response.headers.get("location");
      if (hops === MAX_HOPS || location === null || !URL.canParse(location, url))
        return failed(unreadable(options.baseUrl, response.status, "it redirects without a Location header"));
      url = new URL(location, url);
      response = await hop(options, url, input, deadline.signal);
    }
    if (response.status < 400 || isRefusedRange(response, input)) return ok(response);
    const body = await readBytes(response.body, MAX_REFUSAL);
    const text = body ? await keyGate(options.apiKey).text(new TextDecoder().decode(body)) : "";
    return failed(refusal(response, text, { operation, now: options.now() }));
  } catch (error) {
    // A local server's answer that is too large to be translated, as the server sent it.
    if (error instanceof TooLargeAnswer) return error.whole ? ok(new Response(error.whole)) : failed(tooLarge(options.baseUrl, undefined));
    if (deadline.expired) return failed(timedOut(options.baseUrl, options.limitMs));
    if (input.signal?.aborted) return failed(callerWentAway());
    return failed(unreachable(options.baseUrl, error));
  } finally {
    deadline.clear();
  }
}

/** A client that requested a range must get the refusal with the size in the answer; for all others a 416 is an error. */
function isRefusedRange(response: Response, { headers }: CallInput): boolean {
  return response.status === 416 && headers?.range !== undefined;
}

async function hop(options: OpenOptions, url: URL, input: CallInput, signal: AbortSignal): Promise<Response> {
  const own = url.origin === new URL(options.baseUrl).origin;
  const send = own ? options.send : options.sendForeign;
  if (!send || (url.protocol !== "https:" && url.protocol !== "http:")) throw new Error("the address may not be opened");
  const headers = new Headers({ "user-agent": "lightdesk", "accept-encoding": "identity", ...input.headers });
  return send(new Request(url, { headers, signal, redirect: "manual" }));
}
