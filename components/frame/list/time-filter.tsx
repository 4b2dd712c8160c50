import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { chipStyle } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { useTimeFormat } from "@/components/ui/time";

const DatesDialog = dynamic(() => import("./list-dialogs").then((module) => module.DatesDialog), { ssr: false });

const spanHours = { hour: 1, day: 24, week: 24 * 7, month: 24 * 30, quarter: 24 * 90 } as const;
const emptyRange = { from: undefined, to: undefined, within: undefined };

/** `from` (inclusive) and `to` (exclusive) are timestamps. `within` is the number of past hours. */
export type TimeRange = { from?: number; to?: number; within?: number };
type TimeFilterProps = {
  range: TimeRange;
  spans: readonly (keyof typeof spanHours)[];
  /** Whether "Any time" is offered. */
  allowsAnyTime?: boolean;
  onChange: (change: TimeRange) => void;
};

export function TimeFilter({ range: { from, to, within }, spans, allowsAnyTime = false, onChange }: TimeFilterProps) {
  const t = useTranslations("jobSearch");
  const formatTime = useTimeFormat();
  const [isDialogOpen, setDialogOpen] = useState(false);
  const isRange = from !== undefined || to !== undefined;
  const formatDay = (ms: number) => formatTime(ms, "day") ?? "…";
  const formatRange = () => {
    if (to === undefined) return t("since", { from: formatDay(from ?? 0) });
    return from === undefined ? t("until", { to: formatDay(to - 1) }) : t("range", { from: formatDay(from), to: formatDay(to - 1) });
  };
  const isCustom = within !== undefined && !spans.some((span) => spanHours[span] === within);
  return (
    <>
      <Select
        aria-label={t("time")}
        value={isRange ? "range" : (within ?? "")}
        onChange={({ currentTarget: { value } }) => {
          if (value === "dates") setDialogOpen(true);
          else if (value !== "range") onChange({ ...emptyRange, within: value === "" ? undefined : Number(value) });
        }}
        className={chipStyle(isRange || within !== undefined, "h-[28px] w-auto max-sm:text-[13px]")}
      >
        {allowsAnyTime ? <option value="">{t("anyTime")}</option> : null}
        <Options of={spans.map((span) => [spanHours[span], t(span)])} />
        {isCustom ? <option value={within}>{t("hours", { count: within })}</option> : null}
        {isRange ? <option value="range">{formatRange()}</option> : null}
        <option value="dates">{t("dates")}</option>
      </Select>
      {isDialogOpen ? (
        <DatesDialog
          from={from}
          to={to}
          onClose={() => setDialogOpen(false)}
          onChoose={(range) => {
            setDialogOpen(false);
            onChange({ ...emptyRange, ...range });
          }}
        />
      ) : null}
    </>
  );
}
