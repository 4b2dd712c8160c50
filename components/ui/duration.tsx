"use client";

import { useTranslations } from "next-intl";
import { durationOf } from "./elapsed";
import { useNow } from "./use-now";

type DurationWords = ReturnType<typeof useTranslations<"common.duration">>;

export function Duration({ fromMs, toMs }: { fromMs: number; toMs: number }) {
  return <>{durationText(useTranslations("common.duration"), toMs - fromMs)}</>;
}

export function durationText(t: DurationWords, spanMs: number, isCounting = false): string {
  const { unit, ...parts } = durationOf(spanMs, isCounting);
  return t(unit, parts);
}

/** Still running: counts on with the page's clock. */
export function RunningDuration({ fromMs }: { fromMs: number }) {
  return <>{durationText(useTranslations("common.duration"), useNow() - fromMs, true)}</>;
}
