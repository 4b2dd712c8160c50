// The columns of the job list, their order and widths.

import { useTranslations } from "next-intl";
import { useMemo, useSyncExternalStore } from "react";
import { type Persisted, persisted } from "@/lib/browser/persisted";
import { type InputId, MAX_INPUTS, parseInputId, splitInputId } from "@/lib/contract/jobs/job-list";
import { filter, isTrue, list, map, number, object } from "@/lib/contract/json/readers";

const columnIds = ["preview", "status", "job", "workflow", "what", "outputs", "by", "submitted", "ran"] as const;
export type NamedId = (typeof columnIds)[number];
export type ColumnId = NamedId | InputId;

export type ColumnChoice = {
  order: readonly ColumnId[];
  hidden: readonly ColumnId[];
  widths: Readonly<Record<string, number>>;
  /** Pinned inputs: shown next to the workflow while a job is open. */
  pinned: readonly ColumnId[];
  isCompact: boolean;
};

/** The `job` column contains the row's link. */
export const alwaysShown: readonly ColumnId[] = ["status", "job"];
export const DEFAULT_CHOICE: ColumnChoice = { order: columnIds, hidden: [], widths: {}, pinned: [], isCompact: false };
/** Used while one member has submitted all jobs, where this column is redundant. */
export const singleMemberChoice: ColumnChoice = { ...DEFAULT_CHOICE, hidden: ["by"] };

export function shownColumns({ order, hidden }: ColumnChoice): ColumnId[] {
  return order.filter((id) => alwaysShown.includes(id) || !hidden.includes(id));
}

export function isInputId(id: ColumnId): id is InputId {
  return id.startsWith("input:");
}

const readStored = object(
  {},
  {
    order: list(readId, 50),
    hidden: list(readId, 50),
    pinned: list(readId, 50),
    widths: map(filter(number, (width) => width >= 40 && width <= 1000)),
    isCompact: isTrue,
  },
);

/** Reads the stored choice; anything invalid falls back to the default. */
export function readChoice(storedValue: unknown): ColumnChoice {
  const { order = [], hidden = [], ...choice } = readStored(storedValue) ?? {};
  const ordered = limitInputs(order);
  return {
    ...DEFAULT_CHOICE,
    ...choice,
    order: [...ordered, ...columnIds.filter((id) => !ordered.includes(id))],
    // In choices stored before the column "by" existed, it is hidden.
    hidden: limitInputs(ordered.length > 0 && !ordered.includes("by") ? [...hidden, "by"] : hidden),
  };
}

function limitInputs(ids: readonly ColumnId[]): ColumnId[] {
  const values = ids.filter(isInputId).slice(0, MAX_INPUTS);
  return [...new Set(ids)].filter((id) => !isInputId(id) || values.includes(id));
}

function readId(value: unknown): ColumnId | undefined {
  return columnIds.find((id) => id === value) ?? parseInputId(value);
}

export function addInput(choice: ColumnChoice, id: InputId): ColumnChoice {
  if (choice.order.includes(id)) return { ...choice, hidden: choice.hidden.filter((each) => each !== id) };
  return choice.order.filter(isInputId).length >= MAX_INPUTS ? choice : { ...choice, order: insertAfterWorkflow(choice.order, id) };
}

export function pinInput(choice: ColumnChoice, id: InputId, isPinned: boolean): ColumnChoice {
  const pinned = choice.pinned.filter((each) => each !== id);
  return isPinned ? { ...choice, order: insertAfterWorkflow(choice.order, id), pinned: [...pinned, id] } : { ...choice, pinned };
}

export function withInputs(choice: ColumnChoice, ids: readonly InputId[]): ColumnChoice {
  const choiceWithoutInputs: ColumnChoice = { ...choice, order: choice.order.filter((id) => !isInputId(id)), pinned: [] };
  return ids.toReversed().reduce((now, id) => pinInput(addInput(now, id), id, true), choiceWithoutInputs);
}

export function shownInputs(choice: ColumnChoice): InputId[] {
  return shownColumns(choice).filter(isInputId);
}

function insertAfterWorkflow(order: readonly ColumnId[], id: InputId): ColumnId[] {
  const otherColumns = order.filter((each) => each !== id);
  return otherColumns.toSpliced(otherColumns.indexOf("workflow") + 1, 0, id);
}

/** By connection, shared by all callers. Empty on the server. */
const choices = new Map<string, Persisted<ColumnChoice | undefined>>();

function getStoredChoice(connection: string): Persisted<ColumnChoice | undefined> {
  const parseStored = (value: unknown) => (value === undefined ? undefined : readChoice(value));
  const storedChoice = choices.get(connection) ?? persisted(`lightdesk:jobs-columns:${connection}`, parseStored);
  if (typeof window !== "undefined") choices.set(connection, storedChoice);
  return storedChoice;
}

/**
 * The columns of the list, stored in this browser per connection and synced between tabs. `defaultChoice` must be a stable object, since a new
 * one renders every row again.
 */
export function useColumnChoice(connection = "", defaultChoice: ColumnChoice): [ColumnChoice, (choice: ColumnChoice) => void] {
  const storedChoice = useMemo(() => getStoredChoice(connection), [connection]);
  const columnChoice = useSyncExternalStore(storedChoice.subscribe, storedChoice.get, () => undefined);
  return [columnChoice ?? defaultChoice, storedChoice.set];
}

export function useColumnName(): (id: ColumnId) => string {
  const t = useTranslations("jobList.column");
  return (id) => (isInputId(id) ? splitInputId(id).name : t(id));
}
