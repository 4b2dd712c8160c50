// What changed between two versions of an app, as a plain list.
// Guarantees: pure; empty only if nothing differs. Free of zod.

import { writeExactJson } from "../json/exact-json";
import { type AppDefinition, type AppInput, type AppOutput } from "./shape";

/** `label`: of the input or output concerned; for a changed one, its present label. */
export type AppChange =
  | { what: "created" | "title" | "text" | "tags" | "cover" | "workflow" | "input_order" | "output_order" }
  | { what: "input_added" | "input_removed" | "input_changed" | "output_added" | "output_removed" | "output_changed"; label: string };

export function compareVersions(before: AppDefinition, after: AppDefinition): AppChange[] {
  const fields = (["title", "text", "tags", "cover"] as const).flatMap((what) => (isSame(before[what], after[what]) ? [] : [{ what }]));
  const isSameWorkflow = isSame(before.graph, after.graph) && isSame(before.editor, after.editor);
  return [
    ...fields,
    ...compareLists("input", before.inputs, after.inputs, (input: AppInput) => input.name),
    ...compareLists("output", before.outputs, after.outputs, (output: AppOutput) => output.node),
    ...(isSameWorkflow ? [] : [{ what: "workflow" as const }]),
  ];
}

function compareLists<T extends { label: string }>(
  kind: "input" | "output",
  before: readonly T[],
  after: readonly T[],
  keyOf: (item: T) => string,
): AppChange[] {
  const [old, now] = [new Map(before.map((item) => [keyOf(item), item])), new Map(after.map((item) => [keyOf(item), item]))];
  const kept = before.map(keyOf).filter((key) => now.has(key));
  const changes: AppChange[] = [];
  for (const [key, { label }] of old) if (!now.has(key)) changes.push({ what: `${kind}_removed`, label });
  for (const [key, item] of now) {
    const was = old.get(key);
    if (!was) changes.push({ what: `${kind}_added`, label: item.label });
    else if (!isSame(was, item)) changes.push({ what: `${kind}_changed`, label: item.label });
  }
  const order = after.map(keyOf).filter((key) => old.has(key));
  if (kept.join("\n") !== order.join("\n")) changes.push({ what: `${kind}_order` });
  return changes;
}

/** The order of an object's fields does not count. */
function isSame(one: unknown, other: unknown): boolean {
  return writeExactJson(sorted(one)) === writeExactJson(sorted(other));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
