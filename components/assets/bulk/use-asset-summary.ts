import { useTranslations } from "next-intl";
import { summarize } from "@/components/data-table/bulk/summarize";
import { type Entry, outcomes } from "./asset-acts";
import { toneOf } from "./outcome-looks";

/** The outcome of many assets, in one line. */
export function useAssetSummary() {
  const t = useTranslations("assets.bulk");
  return (entries: readonly Entry[]) => summarize(outcomes, entries, { toneOf, textOf: (each) => t(`count.${each.outcome}`, each) });
}
