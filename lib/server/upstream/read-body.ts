// Parses a service's JSON response: limits, key redaction, schema and masks. Runs on the main thread and in the worker.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { z } from "zod";
import { asNumber, isObject } from "@/lib/contract/json/json";
import { parseServiceJson, TooManyExactNumbersError } from "@/lib/contract/json/parse-json";
import { countSkipped } from "@/lib/contract/json/readers";
import { findCoreList, type Operation, type OperationResponse } from "@/lib/contract/operation";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { findExceededBound } from "@/lib/shared/json-depth";
import { createKeyRedactor } from "./key-redactor";
import { readUpTo, toStream } from "./streams";

/** Larger responses are not parsed. The client gets a failure, and can download the response. */
export const MAX_JSON_BYTES = 8 * 1024 ** 2;
/** Limit for node catalogues, which only the worker parses. */
export const MAX_CATALOGUE_BYTES = 64 * 1024 ** 2;
/** Responses up to these sizes are parsed on the main thread, in a few milliseconds. */
export const MAX_INLINE_BYTES = 1024 ** 2;
const MAX_INLINE_VALUES = 20_000;
/** Responses up to this size are too small to be slow, so their values aren't counted. */
const MIN_COUNTED_BYTES = 128 * 1024;
/** Parsing and serializing more at once would delay all other requests. A graph of 60,000 nodes has fewer. */
const bounds = { values: 1_000_000, names: 500_000 } as const;
const catalogueBounds = { values: 8_000_000, names: 4_000_000 } as const;
/** Each distinct name costs ten times as much as a repeated one. */
const MAX_DISTINCT_NAMES = 64_000;

/** The response exceeds a limit. `whole` is the unread response, which the catching code must read or cancel. */
export class ResponseTooLargeError extends Error {
  constructor(readonly whole?: ReadableStream<Uint8Array>) {
    super("the response is too large");
  }

  discard(): void {
    // Ignores errors of the sender, because nothing more is read.
    void this.whole?.cancel().catch(() => undefined);
  }
}

/** `isMasked`: the value is sent to a browser, so fields and texts that look like secrets are masked. */
export type ReadOptions = {
  operation: Operation;
  status: number;
  apiKey: string | undefined;
  maxRows?: number;
  /** Cache key of the value for the same bytes. */
  cacheKey?: string;
  isMasked: boolean;
  isCatalogue?: boolean;
};
/** `skipped` is the number of skipped list entries. `reason` completes a sentence. */
export type ReadBody = { ok: true; value: unknown; skipped: number } | { ok: false; reason: string };

export async function readBody(bytes: Uint8Array, options: ReadOptions): Promise<ReadBody> {
  const { operation, status, apiKey, maxRows, isMasked, isCatalogue = false } = options;
  const expectedResponse = findExpectedResponse(operation, status);
  if (expectedResponse?.kind !== "json") return { ok: true, value: undefined, skipped: 0 };
  const raw = new TextDecoder().decode(bytes);
  if (!isWithinBounds(raw, isCatalogue)) throw new ResponseTooLargeError();
  const json = parseRedacted(raw, await createKeyRedactor(apiKey).redact(raw), apiKey);
  if (json === TOO_MANY_NUMBERS) throw new ResponseTooLargeError();
  if (!json.ok) return { ok: false, reason: "its response is not JSON" };
  if (!isCatalogue && raw.length > MAX_DISTINCT_NAMES && hasManyNames(json.value)) throw new ResponseTooLargeError();
  const { schema } = expectedResponse;
  const validation = schema.safeParse(limitRows(operation, json.value, maxRows));
  if (!validation.success)
    return { ok: false, reason: `its response to ${operation.name} has an unexpected format${formatPath(validation.error.issues)}` };
  const { value, skipped } = parseAndCountSkipped(schema, validation.data);
  return { ok: true, value: isMasked ? maskSecrets(value, apiKey === undefined ? [] : [apiKey]) : value, skipped };
}

/**
 * Parses JSON without a schema, for responses that are translated before `readBody`. Yields to the event loop after a long one.
 * Throws ResponseTooLargeError.
 */
export async function parseResponse(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Promise<{ ok: true; value: unknown } | { ok: false }> {
  const readResult = await readUpTo(body, MAX_JSON_BYTES, { signal });
  if ("stream" in readResult) throw new ResponseTooLargeError(readResult.stream);
  const { bytes } = readResult;
  const raw = new TextDecoder().decode(bytes);
  const json = isWithinBounds(raw, false) ? parseJson(raw) : undefined;
  if (!json || json === TOO_MANY_NUMBERS) throw new ResponseTooLargeError(toStream(bytes));
  if (bytes.byteLength > MAX_INLINE_BYTES) await yieldToEventLoop();
  return json;
}

/** True if only the worker may parse the response. */
export function isLargeResponse(bytes: Uint8Array): boolean {
  if (bytes.byteLength <= MIN_COUNTED_BYTES) return false;
  if (bytes.byteLength > MAX_INLINE_BYTES) return true;
  return findExceededBound(new TextDecoder().decode(bytes), { values: MAX_INLINE_VALUES }) !== undefined;
}

function isWithinBounds(raw: string, isCatalogue: boolean): boolean {
  const { values, names } = isCatalogue ? catalogueBounds : bounds;
  return raw.length <= names || findExceededBound(raw, { values, names }) === undefined;
}

export function findExpectedResponse({ responses }: Operation, status: number): OperationResponse | undefined {
  return responses[status] ?? Object.values(responses)[0];
}

/** Counts skipped entries. Adds the response's own count, because a translation may have skipped more. */
function parseAndCountSkipped(schema: z.ZodType, value: unknown): { value: unknown; skipped: number } {
  const lists = isObject(value) ? [value, ...Object.values(value)] : [value];
  const skipped = lists.reduce<number>((sum, list) => sum + countSkipped(list), 0);
  const hasField = schema instanceof z.ZodObject && "unreadable" in schema.shape;
  if (!hasField || !isObject(value)) return { value, skipped };
  return skipped === 0 ? { value, skipped } : { value: { ...value, unreadable: skipped + (asNumber(value.unreadable) ?? 0) }, skipped };
}

function hasManyNames(value: unknown): boolean {
  const names = new Set<string>();
  const pendingValues: unknown[] = [value];
  while (pendingValues.length > 0) {
    const pendingValue = pendingValues.pop();
    if (Array.isArray(pendingValue)) for (const item of pendingValue) pendingValues.push(item);
    else if (isObject(pendingValue)) {
      for (const name of Object.keys(pendingValue)) {
        names.add(name);
        pendingValues.push(pendingValue[name]);
      }
      if (names.size > MAX_DISTINCT_NAMES) return true;
    }
  }
  return false;
}

/** A service that ignores the page limit sends its full history. The requested page is its newest part. */
function limitRows(operation: Operation, value: unknown, maxRows: number | undefined): unknown {
  const name = findCoreList(operation);
  const rows: unknown = name !== undefined && isObject(value) ? value[name] : undefined;
  if (name === undefined || maxRows === undefined || !isObject(value) || !Array.isArray(rows)) return value;
  return rows.length > maxRows ? { ...value, [name]: rows.slice(0, maxRows) } : value;
}

function formatPath(issues: readonly { path: readonly PropertyKey[] }[]): string {
  const path = issues[0]?.path.map(String).join(".");
  return path ? ` at ${path}` : "";
}

/** A key of digits may be part of a number, where masking it breaks the JSON. Then it is masked in each text after parsing. */
function parseRedacted(raw: string, redactedText: string, apiKey: string | undefined): ParseResult {
  const json = parseJson(redactedText);
  if (json === TOO_MANY_NUMBERS || json.ok || redactedText === raw || apiKey === undefined) return json;
  const rawResult = parseJson(raw);
  return rawResult !== TOO_MANY_NUMBERS && rawResult.ok ? { ok: true, value: maskSecrets(rawResult.value, [apiKey]) } : rawResult;
}

const TOO_MANY_NUMBERS = "too many exact numbers";
type ParseResult = { ok: true; value: unknown } | { ok: false } | typeof TOO_MANY_NUMBERS;

/** Local servers respond to some changes with an empty body, which counts as an empty object. */
function parseJson(text: string): ParseResult {
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    return { ok: true, value: parseServiceJson(text) };
  } catch (error) {
    return error instanceof TooManyExactNumbersError ? TOO_MANY_NUMBERS : { ok: false };
  }
}
