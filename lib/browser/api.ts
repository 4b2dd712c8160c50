// All calls from a browser to the console's own API. They return a value or a failure and never throw.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { ACT_HEADER } from "@/lib/shared/headers";
import { failed, type Result } from "@/lib/shared/result";
import { confirmIdentity } from "./confirm";
import { type ApiFailure, toFailure } from "./read-failure";
import { apiPath } from "./urls";

export type CallInit = Omit<RequestInit, "body"> & { body?: BodyInit | null; json?: unknown };

/** An empty response is `undefined`. If a recent sign-in is required, the call is repeated after the confirmation. */
export async function callApi<T>(path: `/${string}`, init: CallInit = {}): Promise<Result<T, ApiFailure>> {
  const result = await callOnce<T>(path, init);
  if (result.ok || result.failure.code !== "SIGN_IN_AGAIN" || init.body instanceof ReadableStream) return result;
  return (await confirmIdentity()) ? callOnce<T>(path, init) : result;
}

async function callOnce<T>(path: `/${string}`, init: CallInit): Promise<Result<T, ApiFailure>> {
  const { json, headers, ...rest } = init;
  const requestHeaders = new Headers(headers);
  requestHeaders.set("accept", "application/json");
  if (json !== undefined) requestHeaders.set("content-type", "application/json");
  const startedMs = Date.now();
  try {
    // Imported with the first request but not awaited before it, so that an unloading page still sends its request.
    const reader = import("./read-answer");
    reader.catch(() => undefined);
    const response = await fetch(apiPath(path), {
      credentials: "same-origin",
      ...rest,
      headers: requestHeaders,
      ...(json !== undefined && { body: writeExactJson(json) }),
    });
    const [body, { parseResponse }] = await Promise.all([response.text(), reader]);
    const { status } = response;
    const result = parseResponse<T>(response, body);
    notifyResponse({
      path,
      method: rest.method ?? "GET",
      status,
      startedMs,
      act: requestHeaders.get(ACT_HEADER) ?? undefined,
      ...(result.ok ? { value: result.value } : { failure: result.failure }),
    });
    return result;
  } catch (cause) {
    return failed(toFailure(cause));
  }
}

/** `act`: the id shared by the requests of one user action. */
export type ApiResponse = {
  path: string;
  method: string;
  status: number;
  startedMs?: number;
  act?: string | undefined;
  value?: unknown;
  failure?: ApiFailure;
};
type Listener = (response: ApiResponse) => void;

const listeners = new Set<Listener>();

/** Notifies listeners of a response: the embed host bridge, the session watcher and live updates. */
export function notifyResponse(response: ApiResponse): void {
  for (const listener of listeners) listener(response);
}

export function onResponse(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
