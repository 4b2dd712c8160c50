// From the bytes of an answer to the value that the contract's schema makes of its JSON; the connection's key is removed on the way.
// Guarantees: runs unchanged in the main thread or in the thread for large answers; an answer with more values than can be transferred in a
// moment is refused. Must never: pass on what was not parsed.

import "server-only";
import { z } from "zod";
import { isObject, numberOf } from "@/lib/contract/json/json";
import { TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { parseServiceJson } from "@/lib/contract/json/parse-json";
import { skippedIn } from "@/lib/contract/json/readers";
import { coreListIn, type Operation, type OperationAnswer } from "@/lib/contract/operation";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { exceededBound } from "@/lib/shared/json-depth";
import { keyGate } from "./key-gate";

/** A hundred graphs of a thousand nodes have fewer. More values take too long to transfer between threads, wherever they were read. */
const MOST_VALUES = 2_000_000;
/** Different names: each takes ten times as long as a repeated one. */
export const MAX_NAMES = 120_000;

export type ToRead = { operation: Operation; status: number; apiKey: string | undefined; mostRows: number | undefined };
/** `skipped`: how many list entries were skipped. `why`: the end of a sentence. */
export type ReadBody = { ok: true; value: unknown; skipped?: number } | { ok: false; why: string };

export async function readBody(bytes: Uint8Array, { operation, status, apiKey, mostRows }: ToRead): Promise<ReadBody> {
  const expected = answerFor(operation, status);
  if (expected?.kind !== "json") return { ok: true, value: undefined };
  const raw = new TextDecoder().decode(bytes);
  if (raw.length > MOST_VALUES && exceededBound(raw, { values: MOST_VALUES })) return { ok: false, why: TOO_LARGE };
  const json = parseAfter(raw, await keyGate(apiKey).text(raw), apiKey);
  if (!json.ok) return { ok: false, why: json.isTooLarge ? TOO_LARGE : "its answer is not JSON" };
  if (raw.length > MAX_NAMES && hasManyNames(json.value)) return { ok: false, why: TOO_LARGE };
  const { schema } = expected;
  const parsed = schema.safeParse(clipped(operation, json.value, mostRows));
  if (parsed.success) return { ok: true, ...counted(schema, parsed.data) };
  return { ok: false, why: `its answer to ${operation.name} has another shape${placeOf(parsed.error.issues)}` };
}

export const TOO_LARGE = "its answer is too large";

export function answerFor({ answers }: Operation, status: number): OperationAnswer | undefined {
  return answers[status] ?? Object.values(answers)[0];
}

/** The number of skipped entries, including the response's own count if it has that field: a translation may have skipped more. */
function counted(schema: z.ZodType, value: unknown): { value: unknown; skipped: number } {
  const lists = isObject(value) ? [value, ...Object.values(value)] : [value];
  const skipped = lists.reduce<number>((sum, list) => sum + skippedIn(list), 0);
  const hasField = schema instanceof z.ZodObject && "unreadable" in schema.shape;
  if (!hasField || !isObject(value)) return { value, skipped };
  return skipped === 0 ? { value, skipped } : { value: { ...value, unreadable: skipped + (numberOf(value.unreadable) ?? 0) }, skipped };
}

function hasManyNames(value: unknown): boolean {
  const names = new Set<string>();
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (Array.isArray(next)) for (const item of next) left.push(item);
    else if (isObject(next)) {
      for (const name of Object.keys(next)) {
        names.add(name);
        left.push(next[name]);
      }
      if (names.size > MAX_NAMES) return true;
    }
  }
  return false;
}

/** A service that ignores the page limit sends its whole history: the requested page is the newest part of it. */
function clipped(operation: Operation, value: unknown, mostRows: number | undefined): unknown {
  const name = coreListIn(operation);
  const rows: unknown = name !== undefined && isObject(value) ? value[name] : undefined;
  if (name === undefined || mostRows === undefined || !isObject(value) || !Array.isArray(rows)) return value;
  return rows.length > mostRows ? { ...value, [name]: rows.slice(0, mostRows) } : value;
}

function placeOf(issues: readonly { path: readonly PropertyKey[] }[]): string {
  const path = issues[0]?.path.map(String).join(".");
  return path ? ` at ${path}` : "";
}

/** A key of digits may be part of a number, where replacing it breaks the JSON: then it is removed from the texts one by one. */
function parseAfter(raw: string, clean: string, apiKey: string | undefined): ReturnType<typeof parseJson> {
  const json = parseJson(clean);
  if (json.ok || clean === raw || apiKey === undefined) return json;
  const whole = parseJson(raw);
  return whole.ok ? { ok: true, value: maskSecrets(whole.value, [apiKey]) } : whole;
}

/** A local server answers some changes with an empty body: it is read as an object without fields, and the schema decides. */
function parseJson(text: string): { ok: true; value: unknown } | { ok: false; isTooLarge: boolean } {
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    return { ok: true, value: parseServiceJson(text) };
  } catch (error) {
    return { ok: false, isTooLarge: error instanceof TooManyExactNumbers };
  }
}
