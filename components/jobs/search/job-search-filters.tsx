import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { chipStyle } from "@/components/ui/controls/chip";
import { Select } from "@/components/ui/controls/select";
import { useClock } from "@/components/ui/time/use-clock";
import { type JobSearch } from "@/lib/contract/job-search";

const DatesDialog = dynamic(() => import("./dates-dialog").then((module) => module.DatesDialog), { ssr: false });
const PersonName = dynamic(() => import("./person-dialog").then((module) => module.PersonName), { loading: () => "…" });
const PersonDialog = dynamic(() => import("./person-dialog").then((module) => module.PersonDialog), { ssr: false });

const spans = [
  [1, "hour"],
  [24, "day"],
  [24 * 7, "week"],
  [24 * 30, "month"],
] as const;
const noTime = { from: undefined, to: undefined, within: undefined } satisfies JobSearch;

type JobSearchFiltersProps = {
  search: JobSearch;
  connection: string | undefined;
  onGo: (change: JobSearch) => void;
};

/** When a job was submitted, and by whom. */
export function JobSearchFilters({ search, connection, onGo }: JobSearchFiltersProps) {
  return (
    <>
      <TimeFilter search={search} onGo={onGo} />
      <PersonFilter member={search.member} connection={connection} onPick={(member) => onGo({ member })} />
      <span aria-hidden="true" className="h-5 shrink-0 border-l border-line" />
    </>
  );
}

type PersonFilterProps = { member: string | undefined; connection: string | undefined; onPick: (member: string | undefined) => void };

/** Who submitted it. The people are asked for when one is chosen or about to be. */
function PersonFilter({ member, connection, onPick }: PersonFilterProps) {
  const t = useTranslations("jobSearch");
  const [isPicking, setPicking] = useState(false);
  const pick = (id: string | undefined) => {
    setPicking(false);
    onPick(id);
  };
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setPicking(true)} className={chipStyle(member !== undefined, "max-w-52")}>
        <span className="truncate">{member === undefined ? t("person") : <PersonName member={member} connection={connection} />}</span>
        <span aria-hidden="true">▾</span>
      </button>
      {isPicking ? <PersonDialog member={member} connection={connection} onPick={pick} onClose={() => setPicking(false)} /> : null}
    </>
  );
}

function TimeFilter({ search: { from, to, within }, onGo }: Pick<JobSearchFiltersProps, "search" | "onGo">) {
  const t = useTranslations("jobSearch");
  const clock = useClock();
  const [isChoosing, setChoosing] = useState(false);
  const isRange = from !== undefined || to !== undefined;
  const day = (ms: number) => clock(ms, "day") ?? "…";
  const range = () => {
    if (to === undefined) return t("since", { from: day(from ?? 0) });
    return from === undefined ? t("until", { to: day(to - 1) }) : t("range", { from: day(from), to: day(to - 1) });
  };
  const isOther = within !== undefined && !spans.some(([hours]) => hours === within);
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
        <option value="">{t("anyTime")}</option>
        {spans.map(([hours, word]) => (
          <option key={hours} value={hours}>
            {t(word)}
          </option>
        ))}
        {isOther ? <option value={within}>{t("hours", { count: within })}</option> : null}
        {isRange ? <option value="range">{range()}</option> : null}
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
