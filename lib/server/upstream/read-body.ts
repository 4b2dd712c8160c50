// The JSON of an answer, from its bytes to what the contract's schema makes of it; the key of the connection is taken out on the way.
// Guarantees: runs as it is, on the event loop or in the thread for large answers; an answer with more values than can be handed
// over in a moment is refused. Must never: pass on what was not parsed.

import "server-only";
import { parseExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { coreListIn, type Operation, type OperationAnswer } from "@/lib/contract/operation";
import { exceededBound } from "@/lib/shared/json-depth";
import { keyGate } from "./key-gate";
import { type z } from "zod";

/** A hundred graphs of a thousand nodes have fewer. What has more takes too long to hand over, wherever it was read. */
const MOST_VALUES = 2_000_000;
/** Different ones: each takes ten times as long as a name that was there before. */
export const MOST_NAMES = 120_000;

export type ToRead = { operation: Operation; status: number; apiKey: string | undefined; mostRows: number | undefined };
/** `why`: the end of a sentence. */
export type ReadBody = { ok: true; value: unknown } | { ok: false; why: string };

export async function readBody(bytes: Uint8Array, { operation, status, apiKey, mostRows }: ToRead): Promise<ReadBody> {
  const expected = answerFor(operation, status);
  if (expected?.kind !== "json") return { ok: true, value: undefined };
  const raw = new TextDecoder().decode(bytes);
  if (raw.length > MOST_VALUES && exceededBound(raw, { values: MOST_VALUES })) return { ok: false, why: TOO_LARGE };
  const json = parseAfter(raw, await keyGate(apiKey).text(raw), apiKey);
  if (!json.ok) return { ok: false, why: "its answer is not JSON" };
  if (raw.length > MOST_NAMES && hasManyNames(json.value)) return { ok: false, why: TOO_LARGE };
  const parsed = parseRows(operation, expected.schema, clipped(operation, json.value, mostRows));
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, why: `its answer to ${operation.name} has another shape${placeOf(parsed.error.issues)}` };
}

export const TOO_LARGE = "its answer is too large";

export function answerFor({ answers }: Operation, status: number): OperationAnswer | undefined {
  return answers[status] ?? Object.values(answers)[0];
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
      if (names.size > MOST_NAMES) return true;
    }
  }
  return false;
}

/** A service that overlooks the bound of a page sends its whole history: what was asked for is the newest of it. */
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

/** A key of digits alone may be in a number, which no text can replace: then it is taken out of the texts one by one. */
function parseAfter(raw: string, clean: string, apiKey: string | undefined): ReturnType<typeof parseJson> {
  const json = parseJson(clean);
  if (json.ok || clean === raw || apiKey === undefined) return json;
  const whole = parseJson(raw);
  return whole.ok ? { ok: true, value: maskSecrets(whole.value, [apiKey]) } : whole;
}

/** A local server answers some changes with nothing: that reads as an object without fields, and the schema decides. */
function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    return { ok: true, value: parseExactJson(text) };
  } catch {
    return { ok: false };
  }
}

// A list in which single entries have another shape: the others are read, and how many were left out is said.
// Guarantees: what is passed on was parsed; `unreadable` is there only where entries were left out; an answer that
// is at fault elsewhere too is refused whole.
// Must never: leave an entry out without a word.
function parseRows(operation: Operation, schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  const whole = schema.safeParse(value);
  const name = coreListIn(operation);
  const rows: unknown = name !== undefined && isObject(value) ? value[name] : undefined;
  if (whole.success || name === undefined || !isObject(value) || !Array.isArray(rows)) return whole;
  const bad = new Set<number>();
  for (const { path } of whole.error.issues) {
    const [list, at] = path;
    if (list !== name || typeof at !== "number") return whole;
    bad.add(at);
  }
  const good = rows.filter((_, index) => !bad.has(index));
  return schema.safeParse({ ...value, [name]: good, unreadable: bad.size });
}
