import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { chipStyle } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { useTimeFormat } from "@/components/ui/time";

const DatesDialog = dynamic(() => import("./list-dialogs").then((module) => module.DatesDialog), { ssr: false });

const spanHours = { hour: 1, day: 24, week: 24 * 7, month: 24 * 30, quarter: 24 * 90 } as const;
const noTime = { from: undefined, to: undefined, within: undefined };

/** `from` (inclusive) and `to` (exclusive) are timestamps; `within`: the last hours. */
export type TimeRange = { from?: number; to?: number; within?: number };
type TimeFilterProps = {
  range: TimeRange;
  spans: readonly (keyof typeof spanHours)[];
  /** Whether "Any time" is offered. */
  hasAny?: boolean;
  onGo: (change: TimeRange) => void;
};

export function TimeFilter({ range: { from, to, within }, spans, hasAny = false, onGo }: TimeFilterProps) {
  const t = useTranslations("jobSearch");
  const clock = useTimeFormat();
  const [isChoosing, setChoosing] = useState(false);
  const isRange = from !== undefined || to !== undefined;
  const day = (ms: number) => clock(ms, "day") ?? "…";
  const days = () => {
    if (to === undefined) return t("since", { from: day(from ?? 0) });
    return from === undefined ? t("until", { to: day(to - 1) }) : t("range", { from: day(from), to: day(to - 1) });
  };
  const isCustom = within !== undefined && !spans.some((span) => spanHours[span] === within);
  return (
    <>
      <Select
        aria-label={t("time")}
        value={isRange ? "range" : (within ?? "")}
        onChange={({ currentTarget: { value } }) => {
          if (value === "dates") setChoosing(true);
          else if (value !== "range") onGo({ ...noTime, within: value === "" ? undefined : Number(value) });
        }}
        className={chipStyle(isRange || within !== undefined, "h-[28px] w-auto max-sm:text-[13px]")}
      >
        {hasAny ? <option value="">{t("anyTime")}</option> : null}
        <Options of={spans.map((span) => [spanHours[span], t(span)])} />
        {isCustom ? <option value={within}>{t("hours", { count: within })}</option> : null}
        {isRange ? <option value="range">{days()}</option> : null}
        <option value="dates">{t("dates")}</option>
      </Select>
      {isChoosing ? (
        <DatesDialog
          from={from}
          to={to}
          onClose={() => setChoosing(false)}
          onChoose={(days) => {
            setChoosing(false);
            onGo({ ...noTime, ...days });
          }}
        />
      ) : null}
    </>
  );
}
