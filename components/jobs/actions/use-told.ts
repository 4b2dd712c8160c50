"use client";

import { useTranslations } from "next-intl";
import { tellOutcomes } from "@/components/data-table/tell-outcomes";
import { outcomes, type ReceiptEntry, toneOf } from "./receipt-entry";

/** What became of many, in a line. */
export function useTold() {
  const t = useTranslations("acts");
  return (entries: readonly ReceiptEntry[]) =>
    tellOutcomes(outcomes, entries, { toneOf, textOf: (each) => t(`count.${each.outcome}`, each) });
}
