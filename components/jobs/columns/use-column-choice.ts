import { useTranslations } from "next-intl";
import { useMemo, useSyncExternalStore } from "react";
import { type Persisted, persisted } from "@/lib/browser/persisted";
import { type ColumnChoice, type ColumnId, isInputId, readChoice, valueOf } from "./column-choice";

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
