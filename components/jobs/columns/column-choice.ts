// The columns of the job list, their order and widths. Pure; validates the stored choice.

import { useTranslations } from "next-intl";
import { useMemo, useSyncExternalStore } from "react";
import { type Persisted, persisted } from "@/lib/browser/persisted";
import { type InputId, MAX_INPUTS, parseInputId, splitInputId } from "@/lib/contract/jobs/job-list";
import { filter, isTrue, list, map, number, object } from "@/lib/contract/json/readers";

const namedIds = ["preview", "status", "job", "workflow", "what", "outputs", "by", "submitted", "ran"] as const;
export type NamedId = (typeof namedIds)[number];
export type ColumnId = NamedId | InputId;

export type ColumnChoice = {
  order: readonly ColumnId[];
  hidden: readonly ColumnId[];
  widths: Readonly<Record<string, number>>;
  /** Pinned inputs: shown next to the workflow while a job is open. */
  pinned: readonly ColumnId[];
  isCompact: boolean;
};

/** The `job` column carries the row's link. */
export const alwaysShown: readonly ColumnId[] = ["status", "job"];
export const DEFAULT_CHOICE: ColumnChoice = { order: namedIds, hidden: [], widths: {}, pinned: [], isCompact: false };
/** Used while one member has submitted all jobs, where this column is redundant. */
export const choiceOfOne: ColumnChoice = { ...DEFAULT_CHOICE, hidden: ["by"] };

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
  const ordered = withFewValues(order);
  return {
    ...DEFAULT_CHOICE,
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
  return namedIds.find((id) => id === value) ?? parseInputId(value);
}

export function addInput(choice: ColumnChoice, id: InputId): ColumnChoice {
  if (choice.order.includes(id)) return { ...choice, hidden: choice.hidden.filter((each) => each !== id) };
  return choice.order.filter(isInputId).length >= MAX_INPUTS ? choice : { ...choice, order: besideWorkflow(choice.order, id) };
}

export function pinInput(choice: ColumnChoice, id: InputId, isPinned: boolean): ColumnChoice {
  const pinned = choice.pinned.filter((each) => each !== id);
  return isPinned ? { ...choice, order: besideWorkflow(choice.order, id), pinned: [...pinned, id] } : { ...choice, pinned };
}

export function withInputs(choice: ColumnChoice, ids: readonly InputId[]): ColumnChoice {
  const bare: ColumnChoice = { ...choice, order: choice.order.filter((id) => !isInputId(id)), pinned: [] };
  return ids.toReversed().reduce((now, id) => pinInput(addInput(now, id), id, true), bare);
}

export function shownInputs(choice: ColumnChoice): InputId[] {
  return shownColumns(choice).filter(isInputId);
}

function besideWorkflow(order: readonly ColumnId[], id: InputId): ColumnId[] {
  const otherColumns = order.filter((each) => each !== id);
  return otherColumns.toSpliced(otherColumns.indexOf("workflow") + 1, 0, id);
}

/** One for each connection, shared by all callers. Empty on the server. */
const choices = new Map<string, Persisted<ColumnChoice | undefined>>();

function choiceOf(connection: string): Persisted<ColumnChoice | undefined> {
  const read = (value: unknown) => (value === undefined ? undefined : readChoice(value));
  const storedChoice = choices.get(connection) ?? persisted(`lightdesk:jobs-columns:${connection}`, read);
  if (typeof window !== "undefined") choices.set(connection, storedChoice);
  return storedChoice;
}

/**
 * The columns of the list, remembered in this browser for each connection; every tab follows. `defaultChoice` must be the same object that the
 * first render used, as otherwise every row would be rendered again.
 */
export function useColumnChoice(connection = "", defaultChoice: ColumnChoice): [ColumnChoice, (choice: ColumnChoice) => void] {
  const storedChoice = useMemo(() => choiceOf(connection), [connection]);
  const columnChoice = useSyncExternalStore(storedChoice.subscribe, storedChoice.get, () => undefined);
  return [columnChoice ?? defaultChoice, storedChoice.set];
}

export function useColumnName(): (id: ColumnId) => string {
  const t = useTranslations("jobList.column");
  return (id) => (isInputId(id) ? splitInputId(id).name : t(id));
}
