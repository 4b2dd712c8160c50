import { useTranslations } from "next-intl";
import { tellOutcomes } from "@/components/data-table/bulk/tell-outcomes";
import { type Entry, outcomes } from "./asset-acts";
import { toneOf } from "./outcome-looks";

/** What became of many, in a line. */
export function useTold() {
  const t = useTranslations("assets.bulk");
  return (entries: readonly Entry[]) => tellOutcomes(outcomes, entries, { toneOf, textOf: (each) => t(`count.${each.outcome}`, each) });
}
