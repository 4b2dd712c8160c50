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
  return <>{durationText(useTranslations("common.duration"), toMs - fromMs, withTenths)}</>;
}

export function durationText(
  t: ReturnType<typeof useTranslations<"common.duration">>,
  spanMs: number,
  withTenths?: DurationProps["withTenths"],
): string {
  const { unit, ...parts } = durationOf(spanMs, withTenths);
  return t(unit, parts);
}

/** Still running: counts on with the page's clock. */
export function RunningDuration({ fromMs }: { fromMs: number }) {
  return <Duration fromMs={fromMs} toMs={Math.max(fromMs, useNow())} />;
}
