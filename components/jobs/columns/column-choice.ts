// Which columns the list of jobs has, their order and widths: pure, and validates what the browser has stored.

import { useTranslations } from "next-intl";
import { useMemo, useSyncExternalStore } from "react";
import { type Persisted, persisted } from "@/lib/browser/persisted";
import { type InputId, inputOf, MAX_INPUTS, readInputId } from "@/lib/contract/jobs/job-list";
import { own } from "@/lib/contract/json/own";
import { anyText, isTrue, list, map, number, object, where } from "@/lib/contract/json/readers";

const namedIds = ["preview", "status", "job", "workflow", "what", "outputs", "by", "submitted", "ran"] as const;
export type NamedId = (typeof namedIds)[number];
export type ColumnId = NamedId | InputId;

export type ColumnChoice = {
  /** All columns, in order. */
  order: readonly ColumnId[];
  hidden: readonly ColumnId[];
  widths: Readonly<Record<string, number>>;
  labels: Readonly<Record<string, string>>;
  /** Pinned inputs: shown beside the workflow while a job is open. */
  pinned: readonly ColumnId[];
  isCompact: boolean;
};

/** The `job` column carries the row's link. */
export const alwaysShown: readonly ColumnId[] = ["status", "job"];
export const usualChoice: ColumnChoice = { order: namedIds, hidden: [], widths: {}, labels: {}, pinned: [], isCompact: false };
/** Used while one member has submitted all jobs, where this column tells nothing. */
export const choiceOfOne: ColumnChoice = { ...usualChoice, hidden: ["by"] };

export function shownColumns({ order, hidden }: ColumnChoice): ColumnId[] {
  return order.filter((id) => alwaysShown.includes(id) || !hidden.includes(id));
}

type ColumnValue = ReturnType<typeof inputOf> & { label?: string };

export function isInputId(id: ColumnId): id is InputId {
  return id.startsWith("input:");
}

export function valueOf(id: InputId, labels: ColumnChoice["labels"] = {}): ColumnValue {
  return { ...inputOf(id), label: own(labels, id) };
}

const stored = object(
  {},
  {
    order: list(readId, 50),
    hidden: list(readId, 50),
    pinned: list(readId, 50),
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
  const values = ids.filter(isInputId).slice(0, MAX_INPUTS);
  return [...new Set(ids)].filter((id) => !isInputId(id) || values.includes(id));
}

function readId(value: unknown): ColumnId | undefined {
  return namedIds.find((id) => id === value) ?? readInputId(value);
}

/** A new column is inserted next to the workflow. */
export function addInput(choice: ColumnChoice, id: InputId): ColumnChoice {
  if (choice.order.includes(id)) return { ...choice, hidden: choice.hidden.filter((each) => each !== id) };
  return choice.order.filter(isInputId).length >= MAX_INPUTS ? choice : { ...choice, order: besideWorkflow(choice.order, id) };
}

export function pinInput(choice: ColumnChoice, id: InputId, isPinned: boolean): ColumnChoice {
  const pinned = choice.pinned.filter((each) => each !== id);
  return isPinned ? { ...choice, order: besideWorkflow(choice.order, id), pinned: [...pinned, id] } : { ...choice, pinned };
}

/** The inputs of a saved view replace the current ones. */
export function withInputs(choice: ColumnChoice, ids: readonly InputId[]): ColumnChoice {
  const bare: ColumnChoice = { ...choice, order: choice.order.filter((id) => !isInputId(id)), pinned: [] };
  return ids.toReversed().reduce((now, id) => pinInput(addInput(now, id), id, true), bare);
}

export function shownInputs(choice: ColumnChoice): InputId[] {
  return shownColumns(choice).filter(isInputId);
}

function besideWorkflow(order: readonly ColumnId[], id: InputId): ColumnId[] {
  const others = order.filter((each) => each !== id);
  return others.toSpliced(others.indexOf("workflow") + 1, 0, id);
}

/** One for each connection, shared by all callers. Empty on the server. */
const choices = new Map<string, Persisted<ColumnChoice | undefined>>();

function choiceOf(connection: string): Persisted<ColumnChoice | undefined> {
  const read = (stored: unknown) => (stored === undefined ? undefined : readChoice(stored));
  const kept = choices.get(connection) ?? persisted(`lightdesk:jobs-columns:${connection}`, read);
  if (typeof window !== "undefined") choices.set(connection, kept);
  return kept;
}

/**
 * The columns of the list, remembered in this browser for each connection; every tab follows. `usual` must be the same object that the
 * first render used, as otherwise every row would be rendered again.
 */
export function useColumnChoice(connection = "", usual: ColumnChoice): [ColumnChoice, (choice: ColumnChoice) => void] {
  const kept = useMemo(() => choiceOf(connection), [connection]);
  const chosen = useSyncExternalStore(kept.subscribe, kept.get, () => undefined);
  return [chosen ?? usual, kept.set];
}

/** A column's name: ours, or for a value column the name given by the member who added it. */
export function useColumnName(choice: ColumnChoice): (id: ColumnId) => string {
  const t = useTranslations("jobList.column");
  return (id) => {
    if (!isInputId(id)) return t(id);
    const { name, label } = valueOf(id, choice.labels);
    return label ?? name;
  };
}
