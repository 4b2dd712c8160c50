// Reads an answer of a service: refusals become a Failure, JSON is parsed with the contract's schema for its status.
// Guarantees: at most `jsonBytes` are held, and no more lists and objects than can be looked through for secrets; a page of HTML with 200
// is no answer. Must never: pass on what was not parsed.

import "server-only";
import { parseExactJson } from "@/lib/contract/exact-json";
import { type Failure } from "@/lib/contract/failure";
import { type Operation, type OperationAnswer } from "@/lib/contract/operation";
import { maskSecrets } from "@/lib/contract/mask-secrets";
import { isObject } from "@/lib/contract/json";
import { failed, ok, type Result } from "@/lib/shared/result";
import { refusal, unreadable } from "./failures";
import { parseRows } from "./good-rows";
import { keyGate } from "./key-gate";
import { readBytes } from "./streams";

const LONGEST_REFUSAL = 1024 * 1024;
/** Beyond it maskSecrets hides what is left; sixty megabytes of empty lists would hold the whole process up for half a minute. */
const MOST_CONTAINERS = 3_000_000;

export type Answered = { status: number; value: unknown };

export async function readAnswer(
  answer: Response,
  context: { operation: Operation; baseUrl: string; apiKey: string | undefined; jsonBytes: number; now: number; mostRows?: number },
): Promise<Result<Answered, Failure>> {
  const { operation, baseUrl, now, apiKey } = context;
  const gate = keyGate(apiKey);
  if (answer.status >= 400) {
    const body = await readBytes(answer.body, LONGEST_REFUSAL);
    return failed(refusal(answer, body ? await gate.text(toText(body)) : "", { operation, now }));
  }
  if (answer.status >= 300) {
    await answer.body?.cancel();
    return failed(unreadable(baseUrl, answer.status, `it redirects (${answer.status})`));
  }
  const expected = answerFor(operation, answer.status);
  if (expected?.kind !== "json") {
    await answer.body?.cancel();
    return ok({ status: answer.status, value: undefined });
  }
  if (/^\s*text\/html\b/i.test(answer.headers.get("content-type") ?? "")) {
    await answer.body?.cancel();
    return failed(unreadable(baseUrl, answer.status, "it answers a web page"));
  }
  const body = await readBytes(answer.body, context.jsonBytes);
  if (body === undefined || hasTooMany(body)) return failed(unreadable(baseUrl, answer.status, "its answer is too large"));
  const raw = toText(body);
  const json = parseAfter(raw, await gate.text(raw), apiKey);
  if (!json.ok) return failed(unreadable(baseUrl, answer.status, "its answer is no JSON"));
  const parsed = parseRows(operation.name, expected.schema, clipped(operation, json.value, context.mostRows));
  if (!parsed.success)
    return failed(unreadable(baseUrl, answer.status, `its answer to ${operation.name} has another shape${placeOf(parsed.error.issues)}`));
  return ok({ status: answer.status, value: parsed.data });
}

/** A service that overlooks the bound of a page sends its whole history: what was asked for is the newest of it. */
function clipped({ name }: Operation, value: unknown, mostRows: number | undefined): unknown {
  if (name !== "listHistory" || mostRows === undefined || !isObject(value) || !Array.isArray(value.history)) return value;
  return value.history.length > mostRows ? { ...value, history: value.history.slice(0, mostRows) } : value;
}

/** Counts brackets in texts too: an answer with millions of those is no answer either. */
function hasTooMany(body: Uint8Array): boolean {
  if (body.byteLength <= MOST_CONTAINERS) return false;
  let count = 0;
  for (const byte of body) if ((byte === 91 || byte === 123) && ++count > MOST_CONTAINERS) return true;
  return false;
}

function answerFor(operation: Operation, status: number): OperationAnswer | undefined {
  return operation.answers[status] ?? Object.values(operation.answers)[0];
}

function placeOf(issues: readonly { path: readonly PropertyKey[] }[]): string {
  const path = issues[0]?.path.map(String).join(".");
  return path ? ` at ${path}` : "";
}

/** A key of digits alone may stand in a number, which no text can replace: then it is taken out of the texts one by one. */
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

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
