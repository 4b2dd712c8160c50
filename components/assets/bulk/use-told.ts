import { useTranslations } from "next-intl";
import { tellOutcomes } from "@/components/data-table/bulk/tell-outcomes";
import { type Entry, outcomes } from "./asset-acts";
import { toneOf } from "./outcome-looks";

/** The outcome of many assets, in one line. */
export function useTold() {
  const t = useTranslations("assets.bulk");
  return (entries: readonly Entry[]) => tellOutcomes(outcomes, entries, { toneOf, textOf: (each) => t(`count.${each.outcome}`, each) });
}
