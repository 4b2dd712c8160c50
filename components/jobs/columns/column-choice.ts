// Which columns the list of jobs has, in which order and how wide: pure, and careful with what a browser has stored.

export const namedIds = ["preview", "status", "job", "workflow", "what", "outputs", "submitted", "ran"] as const;
export type NamedId = (typeof namedIds)[number];
/** A value out of the job: the input of a node, as `input:<node>:<name>`. */
export type ValueId = `input:${string}:${string}`;
export type ColumnId = NamedId | ValueId;

export type ColumnChoice = {
  /** Every column there is, in order. */
  order: readonly ColumnId[];
  hidden: readonly ColumnId[];
  widths: Readonly<Record<string, number>>;
  labels: Readonly<Record<string, string>>;
  isCompact: boolean;
};

/** The job's own column carries the link of the row. */
export const alwaysShown: readonly ColumnId[] = ["status", "job"];
export const MOST_VALUES = 8;

export const usualChoice: ColumnChoice = { order: namedIds, hidden: [], widths: {}, labels: {}, isCompact: false };

export function shownColumns({ order, hidden }: ColumnChoice): ColumnId[] {
  return order.filter((id) => alwaysShown.includes(id) || !hidden.includes(id));
}

export type ColumnValue = { node: string; input: string; label?: string };

export function isValueId(id: ColumnId): id is ValueId {
  return id.startsWith("input:");
}

export function valueOf(id: ValueId, labels: ColumnChoice["labels"] = {}): ColumnValue {
  const [, node = "", input = ""] = id.split(":");
  return { node: decodeURIComponent(node), input: decodeURIComponent(input), label: labels[id] };
}

/** What was stored, perhaps by an older version or by hand; anything that is not understood is as usual. */
export function readChoice(kept: unknown): ColumnChoice {
  const stored: Record<string, unknown> = typeof kept === "object" && kept !== null ? { ...kept } : {};
  const order = idsIn(stored.order);
  return {
    order: [...order, ...namedIds.filter((id) => !order.includes(id))],
    hidden: idsIn(stored.hidden),
    widths: entriesIn(stored.widths, (value): value is number => typeof value === "number" && value >= 40 && value <= 1000),
    labels: entriesIn(stored.labels, (value): value is string => typeof value === "string" && value.length <= 60),
    isCompact: stored.isCompact === true,
  };
}

function idsIn(value: unknown): ColumnId[] {
  const list: unknown[] = Array.isArray(value) ? value.slice(0, 50) : [];
  const values = list.filter(isId).filter(isValueId).slice(0, MOST_VALUES);
  return [...new Set(list.filter(isId))].filter((id) => !isValueId(id) || values.includes(id));
}

const valuePattern = /^input:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}:(?:[\w.!~*'()-]|%[0-9A-F]{2}){1,300}$/;

function isId(value: unknown): value is ColumnId {
  if (typeof value !== "string") return false;
  return namedIds.some((id) => id === value) || (valuePattern.test(value) && decodes(value));
}

function decodes(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

function entriesIn<T>(value: unknown, isGood: (each: unknown) => each is T): Record<string, T> {
  if (typeof value !== "object" || value === null) return {};
  const good: Record<string, T> = {};
  for (const [id, each] of Object.entries(value)) if (isId(id) && isGood(each)) good[id] = each;
  return good;
}
