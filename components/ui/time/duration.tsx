import { useTranslations } from "next-intl";
import { createContext, use } from "react";
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

/** The moment up to which the data is known, if it is no longer current: for a failing list, its last answer. */
export const KnownUntil = createContext<number | undefined>(undefined);

/** A duration that is still running: counts on with the page's clock. */
export function RunningDuration({ fromMs }: { fromMs: number }) {
  return <>{durationText(useTranslations("common.duration"), useKnownNow() - fromMs, true)}</>;
}

export function useKnownNow(): number {
  const nowMs = useNow();
  return use(KnownUntil) ?? nowMs;
}
