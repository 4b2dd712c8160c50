"use client";

import { useTranslations } from "next-intl";
import { durationOf } from "./elapsed";
import { useNow } from "./use-now";

type DurationProps = {
  fromMs: number;
  toMs: number; /** "short": only where seconds alone would say too little. */
  withTenths?: boolean | "short";
};

export function Duration({ fromMs, toMs, withTenths }: DurationProps) {
  const t = useTranslations("common.duration");
  const { unit, ...parts } = durationOf(toMs - fromMs, withTenths);
  return <>{t(unit, parts)}</>;
}

/** Still running: counts on with the page's clock. */
export function RunningDuration({ fromMs }: { fromMs: number }) {
  return <Duration fromMs={fromMs} toMs={Math.max(fromMs, useNow())} />;
}
