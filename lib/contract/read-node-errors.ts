// Reads node_errors as any deployment sends them, without a schema, so that browsers can do it with the first page.
// Guarantees: never throws; missing fields are empty; unknown fields and unknown types are kept.

import { isObject, textOf } from "./json/json";
import { type NodeError, type NodeErrors } from "./schemas/node-errors";

/** Undefined if no node has an error. */
export function readNodeErrors(value: unknown): NodeErrors | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).flatMap(([nodeId, entry]) => (isObject(entry) ? [[nodeId, readEntry(entry)] as const] : []));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function readEntry(entry: Record<string, unknown>): NodeErrors[string] {
  return {
    ...entry,
    class_type: textOf(entry.class_type),
    dependent_outputs: Array.isArray(entry.dependent_outputs) ? entry.dependent_outputs.filter((id) => typeof id === "string") : [],
    errors: Array.isArray(entry.errors) ? entry.errors.flatMap((error: unknown) => (isObject(error) ? [readError(error)] : [])) : [],
  };
}

function readError(error: Record<string, unknown>): NodeError {
  return {
    ...error,
    type: textOf(error.type) ?? "unknown",
    message: textOf(error.message) ?? "",
    details: textOf(error.details) ?? "",
    extra_info: isObject(error.extra_info) ? error.extra_info : {},
  };
}
