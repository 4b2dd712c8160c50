// Job states, filters of the job list, and ids of inputs as columns. Free of zod: browsers load it with the first page.

import { type Params, type ValuesOf } from "../params";
import { decodePercent } from "../plain-line";

export const jobStates = ["pending", "in_progress", "completed", "failed", "cancelled"] as const;
export type KnownJobState = (typeof jobStates)[number];
export type JobState = KnownJobState | "unknown";

const words: Readonly<Record<KnownJobState, readonly string[]>> = {
  pending: [
    "pending",
    "waiting_to_dispatch",
    "submitted",
    "queued_limited",
    "queued_waiting",
    "allocated",
    "preparing",
    "pending_execution",
  ],
  in_progress: ["in_progress", "executing", "executed", "erroring"],
  completed: ["completed", "success"],
  failed: ["failed", "error", "non_retryable_error", "lost", "retryable_error"],
  cancelled: ["cancelled", "canceled", "cancel_requested", "cancel_pending", "cancelling_preparing"],
};

const stateOfWord = new Map<string, KnownJobState>(jobStates.flatMap((state) => words[state].map((word) => [word, state] as const)));

/** Words of a terminal state whose job is still moving; `erroring` maps to in_progress and needs no entry. */
const stillMoving = new Set(["cancel_requested", "cancel_pending", "cancelling_preparing"]);

export function toJobState(word: string): JobState {
  return stateOfWord.get(word) ?? "unknown";
}

/** Decided by the raw word: `cancel_requested` is shown as cancelled but may still change. */
export function isTerminalWord(word: string): boolean {
  const state = stateOfWord.get(word);
  return (state === "completed" || state === "failed" || state === "cancelled") && !stillMoving.has(word);
}

export const outputTypes = ["image", "video", "audio"] as const;

export const jobParams = {
  status: { kind: "words", values: jobStates },
  workflow_id: { kind: "text", maxLength: 200 },
  output_type: { kind: "word", values: outputTypes },
  sort_by: { kind: "word", values: ["create_time", "execution_time"], default: "create_time" },
  sort_order: { kind: "word", values: ["asc", "desc"], default: "desc" },
  offset: { kind: "integer", min: 0, default: 0 },
  limit: { kind: "integer", min: 1, max: 1000, default: 100 },
} as const satisfies Params;

/** `text` is words; `from` (included) and `to` (excluded) are milliseconds since 1970; `within` is hours back from now; `member` is an id. */
export const searchParams = {
  text: { kind: "text", maxLength: 200, isTrimmed: true },
  member: { kind: "text", maxLength: 200, isTrimmed: true },
  from: { kind: "integer", min: 0 },
  to: { kind: "integer", min: 0 },
  within: { kind: "integer", min: 1, max: 24 * 366 },
} as const satisfies Params;
export type JobSearch = ValuesOf<typeof searchParams>;

export const searchNames: readonly string[] = Object.keys(searchParams);

export function isSearch(query: JobSearch): boolean {
  return searchNames.some((name) => Reflect.get(query, name) !== undefined);
}

/** An input of a job as a column: `*Class` is the first node of a class that has the input. */
export type InputId = `input:${string}:${string}`;
export const MAX_INPUTS = 8;
export const CLASS_MARK = "*";
const idPattern = /^input:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}$/;

export function inputIdOf(node: string, input: string): InputId {
  return `input:${encodeURIComponent(node)}:${encodeURIComponent(input)}`;
}

export function readInputId(text: unknown): InputId | undefined {
  return typeof text === "string" && isInputId(text) && decodePercent(text) ? text : undefined;
}

export function readInputIds(text: string): InputId[] {
  return [...new Set(text.split(",").flatMap((id) => readInputId(id) ?? []))].slice(0, MAX_INPUTS);
}

export function inputOf(id: InputId): { node: string; input: string; name: string } {
  const [, node = "", input = ""] = id.split(":").map(decodeURIComponent);
  return { node, input, name: `${node.startsWith(CLASS_MARK) ? node.slice(CLASS_MARK.length) : node}.${input}` };
}

function isInputId(text: string): text is InputId {
  return idPattern.test(text);
}
