// Which message a node's problem gets, and with which values: the messages are in lib/messages. Pure.
// Guarantees: for an unknown type the service's own words are shown; values are shortened, since a received value may be a whole text.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Limit, settingsOf } from "@/lib/contract/nodes/input-spec";
import { type Problem } from "./node-problems";

export type ProblemSentence =
  | {
      key:
        | "required_input_missing"
        | "bad_linked_input"
        | "return_type_mismatch"
        | "invalid_input_type"
        | "value_smaller_than_min"
        | "value_bigger_than_max"
        | "value_not_in_list"
        | "value_not_in_list_near"
        | "value_not_whole"
        | "dependency_cycle"
        | "dangling_link"
        | "missing_node_type"
        | "masked_value"
        | "execution_failed"
        | "other"
        | "otherWithDetails";
      values: Record<string, string | number>;
    }
  | { key: "nameless"; values: Record<string, never> };

const LONGEST_VALUE = 80;
const MAX_MESSAGE_LENGTH = 400;

export function problemSentence({ type, message, details, extra }: Problem): ProblemSentence {
  const input = shown(extra.input_name);
  const received = shown(extra.received_value ?? extra.received_type);
  const { min, max } = settingsOf(extra.input_config);
  if (type === "required_input_missing" && input) return { key: type, values: { input } };
  if (type === "masked_value" && input) return { key: type, values: { input } };
  if (type === "bad_linked_input" && input) return { key: type, values: { input } };
  if (type === "dangling_link" && input) return { key: type, values: { input, source: shown(extra.source) } };
  if (type === "return_type_mismatch" && input && received) return { key: type, values: { input, received } };
  if (type === "invalid_input_type" && input && "received_value" in extra)
    return { key: type, values: { input, received: received || "“”" } };
  if (type === "value_smaller_than_min" && received && min !== undefined) return { key: type, values: { received, min: shownLimit(min) } };
  if (type === "value_bigger_than_max" && received && max !== undefined) return { key: type, values: { received, max: shownLimit(max) } };
  if (type === "value_not_whole" && input && received) return { key: type, values: { input, received } };
  const nearest = shown(extra.nearest);
  if (type === "value_not_in_list" && received && nearest) return { key: "value_not_in_list_near", values: { received, nearest } };
  if (type === "value_not_in_list" && received) return { key: type, values: { received } };
  if (type === "dependency_cycle" && details) return { key: type, values: { path: details } };
  if (type === "missing_node_type" && typeof extra.class_type === "string") return { key: type, values: { classType: extra.class_type } };
  if (type === "execution_failed" && typeof extra.job === "string")
    return { key: type, values: { job: extra.job, message: message.slice(0, MAX_MESSAGE_LENGTH) } };
  if (message && details) return { key: "otherWithDetails", values: { message, details: shown(details) } };
  if (message || details) return { key: "other", values: { message: message || shown(details) } };
  return { key: "nameless", values: {} };
}

/** To the last digit, as a refused value may miss its limit by one. */
function shownLimit(limit: Limit): number | string {
  return typeof limit === "bigint" ? String(limit) : limit;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : writeExactJson(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text;
}
