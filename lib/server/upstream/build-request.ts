// Builds requests to services. The key is in a single header. No Origin is sent, because local servers reject it.

import "server-only";
import { CONNECTION_PARAMETER, RAW_PARAMETER } from "@/lib/contract/console";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { fillPath, type Operation } from "@/lib/contract/operation";
import { isAddressableId } from "@/lib/contract/params";
import { getTelemetry } from "@/lib/shared/telemetry";

export type UploadBody = { stream: ReadableStream<Uint8Array>; contentType: string; contentLength?: number };
export type CallInput = {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  json?: unknown;
  body?: UploadBody;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Overrides the client's limits: the time of one exchange, and the number of attempts if the service requests a wait. */
  limits?: { exchangeMs?: number; attempts?: number };
  /** `page`: a loading page waits briefly, then continues without this read. `poll`: an open page polls. */
  waiter?: "page" | "poll";
};

/** Only file paths may contain slashes. */
export function isAddressable({ path }: Operation, { params = {} }: CallInput): boolean {
  const isFilePath = path.startsWith("/api/userdata/");
  return Object.values(params).every((value) => (isFilePath ? value.split("/").every(isPathSegment) : isAddressableId(value)));
}

function isPathSegment(segment: string): boolean {
  return segment !== "" && segment !== "." && segment !== ".." && !/[\p{Cc}\\]/u.test(segment);
}

export function buildUrl(baseUrl: string, operation: Operation, input: CallInput): URL {
  const url = new URL(baseUrl.replace(/\/+$/, "") + fillPath(operation.path, input.params ?? {}));
  const query = { ...input.query, ...operation.fixedQuery };
  for (const [name, value] of Object.entries(query)) {
    const text = toText(value);
    if (text !== undefined) url.searchParams.set(name, text);
  }
  return url;
}

/** Returns the console path that downloads a read's raw response. Undefined for writes, which must not be sent twice. */
export function buildRawPath(operation: Operation, input: CallInput, connectionId: string | undefined): string | undefined {
  if (operation.method !== "GET") return undefined;
  const { pathname, searchParams } = buildUrl("http://console.invalid", { ...operation, fixedQuery: undefined }, input);
  searchParams.set(RAW_PARAMETER, "true");
  if (connectionId !== undefined) searchParams.set(CONNECTION_PARAMETER, connectionId);
  return `${pathname}?${searchParams.toString()}`;
}

/** The only function that adds a key to a request. */
export function buildKeyHeader(apiKey: string | null | undefined): Record<string, string> {
  return apiKey == null ? {} : { "x-api-key": apiKey };
}

export function buildRequest(url: URL, operation: Operation, input: CallInput, apiKey: string | undefined, signal: AbortSignal): Request {
  const headers = new Headers({
    "user-agent": "lightdesk",
    "accept-encoding": "identity",
    ...getTelemetry().traces?.getOutgoingHeaders(),
    ...input.headers,
    ...buildKeyHeader(apiKey),
  });
  if (input.body) {
    headers.set("content-type", input.body.contentType);
    if (input.body.contentLength !== undefined) headers.set("content-length", String(input.body.contentLength));
    const init = { method: operation.method, headers, body: input.body.stream, signal, redirect: "manual", duplex: "half" } as const;
    return new Request(url, init);
  }
  const body = input.json === undefined ? undefined : writeExactJson(input.json);
  if (body !== undefined) headers.set("content-type", "application/json");
  return new Request(url, { method: operation.method, headers, body, signal, redirect: "manual" });
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(String).join(",");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
