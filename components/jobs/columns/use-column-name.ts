"use client";

import { useTranslations } from "next-intl";
import { type ColumnChoice, type ColumnId, isValueId, valueOf } from "./column-choice";

/** What a column is called: by us, or for a value by whoever added it. */
export function useColumnName(choice: ColumnChoice): (id: ColumnId) => string {
  const t = useTranslations("jobs.column");
  return (id) => {
    if (!isValueId(id)) return t(id);
    const { node, input, label } = valueOf(id, choice.labels);
    return label ?? `${node}.${input}`;
  };
}
