"use client";

import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useTranslations } from "next-intl";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type ColumnChoice, type ColumnId, isValueId, readChoice, valueOf } from "./column-choice";

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** Where storage is refused, the choice lasts as long as the page. */
const kept = new Map<string, string>();

function read(key: string): string | null {
  try {
    return window.localStorage.getItem(key) ?? kept.get(key) ?? null;
  } catch {
    return kept.get(key) ?? null;
  }
}

/** The columns of the list, remembered in this browser for each connection; every tab follows. */
export function useColumnChoice(connection: string | undefined): [ColumnChoice, (choice: ColumnChoice) => void] {
  const key = `lightdesk:jobs-columns:${connection ?? ""}`;
  const text = useSyncExternalStore(
    subscribe,
    () => read(key),
    () => null,
  );
  const choice = useMemo(() => readChoice(text), [text]);
  const choose = useCallback(
    (next: ColumnChoice) => {
      const written = writeExactJson(next);
      kept.set(key, written);
      try {
        window.localStorage.setItem(key, written);
      } catch {
        // A full or forbidden storage: `kept` has it.
      }
      for (const notify of listeners) notify();
    },
    [key],
  );
  return [choice, choose];
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
