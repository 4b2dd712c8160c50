"use client";

import { useTranslations } from "next-intl";
import { roundingOf, type StartRange } from "./start-range";

/** "in 2 min to 6 min": what the past says, as a range; where it says nothing, that. */
export function StartCell({ range }: { range: StartRange | undefined }) {
  const t = useTranslations("queue.start");
  const step = roundingOf(range?.fromMs ?? 0);
  const fromMs = Math.floor((range?.fromMs ?? 0) / step) * step;
  // "At once or later" is nothing that anybody could know less of.
  if (!range || (fromMs === 0 && range.toMs === undefined)) return <span title={t("unknownHint")}>{t("unknown")}</span>;
  const from = t(...spanOf(fromMs));
  if (range.toMs === undefined) return <span title={t("hint")}>{t("after", { from })}</span>;
  const stepTo = roundingOf(range.toMs);
  const to = t(...spanOf(Math.max(Math.ceil(range.toMs / stepTo) * stepTo, fromMs + step)));
  return <span title={t("hint")}>{fromMs === 0 ? t("within", { to }) : t("between", { from, to })}</span>;
}

function spanOf(ms: number): ["seconds" | "minutes" | "hours", { count: number }] {
  if (ms < 60_000) return ["seconds", { count: Math.round(ms / 1_000) }];
  if (ms < 7_200_000) return ["minutes", { count: Math.round(ms / 60_000) }];
  return ["hours", { count: Math.round(ms / 3_600_000) }];
}
