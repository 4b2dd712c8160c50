// Calls the console's own API from the browser. Calls return a value or a failure and never throw.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { failed, type Result } from "@/lib/shared/result";
import { type ApiFailure, toFailure } from "./api-failure";
import { confirmIdentity } from "./confirm-identity";
import { apiPath } from "./urls";

export type CallInit = Omit<RequestInit, "body"> & { body?: BodyInit | null; json?: unknown };

/** Returns undefined for an empty response. If a recent sign-in is required, repeats the call after the confirmation. */
export async function callApi<T>(path: `/${string}`, init: CallInit = {}): Promise<Result<T, ApiFailure>> {
  const result = await callOnce<T>(path, init);
  if (result.ok || result.failure.code !== "SIGN_IN_AGAIN" || init.body instanceof ReadableStream) return result;
  return (await confirmIdentity()) ? callOnce<T>(path, init) : result;
}

async function callOnce<T>(path: `/${string}`, init: CallInit): Promise<Result<T, ApiFailure>> {
  const { json, headers, ...requestInit } = init;
  const requestHeaders = new Headers(headers);
  requestHeaders.set("accept", "application/json");
  if (json !== undefined) requestHeaders.set("content-type", "application/json");
  const startedMs = Date.now();
  try {
    // The import is not awaited before the request, so that an unloading page still sends it.
    const parserModule = import("./parse-response");
    parserModule.catch(() => undefined);
    const response = await fetch(apiPath(path), {
      credentials: "same-origin",
      ...requestInit,
      headers: requestHeaders,
      ...(json !== undefined && { body: writeExactJson(json) }),
    });
    const [body, { parseResponse }] = await Promise.all([response.text(), parserModule]);
    const { status } = response;
    const result = parseResponse<T>(response, body);
    notifyResponse({
      path,
      method: requestInit.method ?? "GET",
      status,
      startedMs,
      action: requestHeaders.get(ACTION_HEADER) ?? undefined,
      ...(result.ok ? { value: result.value } : { failure: result.failure }),
    });
    return result;
  } catch (cause) {
    return failed(toFailure(cause));
  }
}

/** `action`: the id shared by all requests of one user action. */
export type ApiResponse = {
  path: string;
  method: string;
  status: number;
  startedMs?: number;
  action?: string | undefined;
  value?: unknown;
  failure?: ApiFailure;
};
type ResponseListener = (response: ApiResponse) => void;

const listeners = new Set<ResponseListener>();

/** Notifies listeners of a response: the embed host bridge, the session watcher and live updates. */
export function notifyResponse(response: ApiResponse): void {
  for (const listener of listeners) listener(response);
}

export function onResponse(listener: ResponseListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
