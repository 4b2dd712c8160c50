// Which columns the list of jobs has, their order and widths: pure, and validates what the browser has stored.

import { anyText, isTrue, list, map, number, object, where } from "@/lib/contract/json/readers";
import { own } from "@/lib/contract/json/own";

const namedIds = ["preview", "status", "job", "workflow", "what", "outputs", "by", "submitted", "ran"] as const;
export type NamedId = (typeof namedIds)[number];
/** A value from the job's workflow: the input of a node, as `input:<node>:<name>`. */
export type ValueId = `input:${string}:${string}`;
export type ColumnId = NamedId | ValueId;

export type ColumnChoice = {
  /** All columns, in order. */
  order: readonly ColumnId[];
  hidden: readonly ColumnId[];
  widths: Readonly<Record<string, number>>;
  labels: Readonly<Record<string, string>>;
  isCompact: boolean;
};

/** The `job` column carries the row's link. */
export const alwaysShown: readonly ColumnId[] = ["status", "job"];
export const MOST_VALUES = 8;

export const usualChoice: ColumnChoice = { order: namedIds, hidden: [], widths: {}, labels: {}, isCompact: false };
/** Used while one member has submitted all jobs, where this column tells nothing. */
export const choiceOfOne: ColumnChoice = { ...usualChoice, hidden: ["by"] };

export function shownColumns({ order, hidden }: ColumnChoice): ColumnId[] {
  return order.filter((id) => alwaysShown.includes(id) || !hidden.includes(id));
}

export type ColumnValue = { node: string; input: string; label?: string };

export function isValueId(id: ColumnId): id is ValueId {
  return id.startsWith("input:");
}

export function valueOf(id: ValueId, labels: ColumnChoice["labels"] = {}): ColumnValue {
  const [, node = "", input = ""] = id.split(":");
  return { node: decodeURIComponent(node), input: decodeURIComponent(input), label: own(labels, id) };
}

const stored = object(
  {},
  {
    order: list(readId, 50),
    hidden: list(readId, 50),
    widths: map(where(number, (width) => width >= 40 && width <= 1000)),
    labels: map(where(anyText, (label) => label.length <= 60)),
    isCompact: isTrue,
  },
);

/** Reads what was stored, perhaps by an older version or by hand; anything invalid falls back to the default. */
export function readChoice(kept: unknown): ColumnChoice {
  const { order = [], hidden = [], ...choice } = stored(kept) ?? {};
  const ordered = withFewValues(order);
  return {
    ...usualChoice,
    ...choice,
    order: [...ordered, ...namedIds.filter((id) => !ordered.includes(id))],
    // The choice was stored before the column "by" existed: it stays hidden.
    hidden: withFewValues(ordered.length > 0 && !ordered.includes("by") ? [...hidden, "by"] : hidden),
  };
}

function withFewValues(ids: readonly ColumnId[]): ColumnId[] {
  const values = ids.filter(isValueId).slice(0, MOST_VALUES);
  return [...new Set(ids)].filter((id) => !isValueId(id) || values.includes(id));
}

const valuePattern = /^input:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}$/;

function readId(value: unknown): ColumnId | undefined {
  return namedIds.find((id) => id === value) ?? (typeof value === "string" && isValue(value) && decodes(value) ? value : undefined);
}

function isValue(text: string): text is ValueId {
  return valuePattern.test(text);
}

function decodes(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}
