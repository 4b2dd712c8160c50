// Reads an answer of a service: refusals become a Failure, JSON is parsed with the contract's schema for its status.
// Guarantees: at most `jsonBytes` are kept; large answers are read in a thread; an HTML page with status 200 is not accepted as an answer.
// Must never: pass on what was not parsed.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { noteSkipped } from "@/lib/contract/json/readers";
import { type Operation } from "@/lib/contract/operation";
import { failed, ok, type Result } from "@/lib/shared/result";
import { refusal, unreadable } from "./failures";
import { keyGate } from "./key-gate";
import { LARGE_ANSWER, type LargeAnswers } from "./large-answers";
import { answerFor, readBody, TOO_LARGE } from "./read-body";
import { readBytes } from "./streams";

const LONGEST_REFUSAL = 1024 * 1024;

export type Answered = { status: number; value: unknown };

type Context = {
  operation: Operation;
  baseUrl: string;
  apiKey: string | undefined;
  jsonBytes: number;
  now: number;
  mostRows: number | undefined;
  signal: AbortSignal;
  /** The answer is only passed on: large parts of it may stay JSON text. */
  isPassedOn: boolean;
  /** Without it, large answers are read in the main thread. */
  largeAnswers: LargeAnswers | undefined;
};

export async function readAnswer(answer: Response, context: Context): Promise<Result<Answered, Failure>> {
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
  const bytes = await readBytes(answer.body, context.jsonBytes);
  if (bytes === undefined) return failed(unreadable(baseUrl, answer.status, TOO_LARGE));
  const how = { operation, status: answer.status, apiKey, mostRows: context.mostRows };
  const elsewhere = bytes.byteLength > LARGE_ANSWER ? context.largeAnswers : undefined;
  const read = await (elsewhere ? elsewhere.read(bytes, { ...how, isPassedOn: context.isPassedOn }, context.signal) : readBody(bytes, how));
  if (!read.ok) return failed(unreadable(baseUrl, answer.status, read.why));
  const { value, skipped = 0 } = read;
  // A list that the worker thread read is a copy and lacks the count.
  return ok({ status: answer.status, value: typeof value === "object" && value !== null ? noteSkipped(value, skipped) : value });
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
