import { useMemo, useSyncExternalStore } from "react";
import { useTranslations } from "next-intl";
import { persisted, type Persisted } from "@/lib/browser/persisted";
import { type ColumnChoice, type ColumnId, isValueId, readChoice, valueOf } from "./column-choice";

/** One for each connection, shared by all who ask. Empty on the server. */
const choices = new Map<string, Persisted<ColumnChoice | undefined>>();

function choiceOf(connection: string): Persisted<ColumnChoice | undefined> {
  const read = (stored: unknown) => (stored === undefined ? undefined : readChoice(stored));
  const kept = choices.get(connection) ?? persisted(`lightdesk:jobs-columns:${connection}`, read);
  if (typeof window !== "undefined") choices.set(connection, kept);
  return kept;
}

/** The columns of the list, remembered in this browser for each connection; every tab follows. `usual`: the very object that the server drew with, or every row would be drawn again. */
export function useColumnChoice(connection = "", usual: ColumnChoice): [ColumnChoice, (choice: ColumnChoice) => void] {
  const kept = useMemo(() => choiceOf(connection), [connection]);
  const chosen = useSyncExternalStore(kept.subscribe, kept.get, () => undefined);
  return [chosen ?? usual, kept.set];
}

/** What a column is called: by us, or for a value by whoever added it. */
export function useColumnName(choice: ColumnChoice): (id: ColumnId) => string {
  const t = useTranslations("jobList.column");
  return (id) => {
    if (!isValueId(id)) return t(id);
    const { node, input, label } = valueOf(id, choice.labels);
    return label ?? `${node}.${input}`;
  };
}
