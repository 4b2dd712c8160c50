// Job states, job list filters, and ids of input columns. Doesn't import zod, to keep it out of the first page's scripts.

import { type Params, type ValuesOf } from "../params";
import { decodePercent } from "../plain-line";
import { MAX_DATE_MS } from "../times";

export const jobStates = ["pending", "in_progress", "completed", "failed", "cancelled"] as const;
export type KnownJobState = (typeof jobStates)[number];
export type JobState = KnownJobState | "unknown";

const serviceStatuses: Readonly<Record<KnownJobState, readonly string[]>> = {
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

const stateByStatus = new Map<string, KnownJobState>(
  jobStates.flatMap((state) => serviceStatuses[state].map((status) => [status, state] as const)),
);

/** Statuses that are shown as a terminal state although the job may still change. */
const changingStatuses = new Set(["cancel_requested", "cancel_pending", "cancelling_preparing"]);

export function toJobState(status: string): JobState {
  return stateByStatus.get(status) ?? "unknown";
}

/** Uses the raw status, because `cancel_requested` is shown as cancelled but may still change. */
export function isTerminalStatus(status: string): boolean {
  const state = stateByStatus.get(status);
  return (state === "completed" || state === "failed" || state === "cancelled") && !changingStatuses.has(status);
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

/** `text`: search words. `from` (inclusive) and `to` (exclusive): milliseconds since 1970. `within`: hours before now. `member`: an id. */
export const searchParams = {
  text: { kind: "text", maxLength: 200, isTrimmed: true },
  member: { kind: "text", maxLength: 200, isTrimmed: true },
  from: { kind: "integer", min: 0, max: MAX_DATE_MS },
  to: { kind: "integer", min: 0, max: MAX_DATE_MS },
  within: { kind: "integer", min: 1, max: 24 * 366 },
} as const satisfies Params;
export type JobSearch = ValuesOf<typeof searchParams>;

export const searchParamNames: readonly string[] = Object.keys(searchParams);

export function hasSearchFilter(query: JobSearch): boolean {
  return searchParamNames.some((name) => Reflect.get(query, name) !== undefined);
}

/** An input of a job as a column. `*Class` is the first node of a class that has the input. */
export type InputId = `input:${string}:${string}`;
export const MAX_INPUTS = 8;
export const CLASS_PREFIX = "*";
const inputIdPattern = /^input:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}$/;

export function toInputId(node: string, input: string): InputId {
  return `input:${encodeURIComponent(node)}:${encodeURIComponent(input)}`;
}

export function parseInputId(text: unknown): InputId | undefined {
  return typeof text === "string" && isInputId(text) && decodePercent(text) ? text : undefined;
}

export function parseInputIds(text: string): InputId[] {
  return [...new Set(text.split(",").flatMap((id) => parseInputId(id) ?? []))].slice(0, MAX_INPUTS);
}

export function splitInputId(id: InputId): { node: string; input: string; name: string } {
  const [, node = "", input = ""] = id.split(":").map(decodeURIComponent);
  return { node, input, name: `${node.startsWith(CLASS_PREFIX) ? node.slice(CLASS_PREFIX.length) : node}.${input}` };
}

function isInputId(text: string): text is InputId {
  return inputIdPattern.test(text);
}
