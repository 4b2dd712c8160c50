import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { filterButton, FilterRow, FiltersPopover } from "@/components/frame/list/filters-popover";
import { TimeFilter } from "@/components/frame/list/time-filter";
import { type JobSearch } from "@/lib/contract/jobs/job-search";

const PersonName = dynamic(() => import("./person-dialog").then((module) => module.PersonName), { loading: () => "…" });
const PersonDialog = dynamic(() => import("./person-dialog").then((module) => module.PersonDialog), { ssr: false });

const spans = ["hour", "day", "week", "month"] as const;

type JobFiltersProps = {
  search: JobSearch;
  connection: string | undefined;
  onGo: (change: JobSearch) => void;
  /** How many of `children` are set. */
  count?: number;
  /** Filters that only some lists have. */
  children?: ReactNode;
};

/** When a job was submitted, and in the popover by whom. */
export function JobSearchFilters({ search, connection, onGo, count = 0, children }: JobFiltersProps) {
  return (
    <>
      <TimeFilter range={search} spans={spans} hasAny onGo={onGo} />
      <FiltersPopover count={count + (search.member === undefined ? 0 : 1)}>
        <PersonFilter member={search.member} connection={connection} onPick={(member) => onGo({ member })} />
        {children}
      </FiltersPopover>
    </>
  );
}

type PersonFilterProps = { member: string | undefined; connection: string | undefined; onPick: (member: string | undefined) => void };

/** The member who submitted it. The members are requested when one is chosen, or about to be. */
function PersonFilter({ member, connection, onPick }: PersonFilterProps) {
  const t = useTranslations("jobSearch");
  const [isPicking, setPicking] = useState(false);
  const pick = (id: string | undefined) => {
    setPicking(false);
    onPick(id);
  };
  return (
    <FilterRow name={t("person")}>
      <button type="button" aria-haspopup="dialog" onClick={() => setPicking(true)} className={filterButton}>
        <span className="min-w-0 flex-1">
          {member === undefined ? t("personDialog.any") : <PersonName member={member} connection={connection} />}
        </span>
        <span aria-hidden="true">▾</span>
      </button>
      {isPicking ? <PersonDialog member={member} connection={connection} onPick={pick} onClose={() => setPicking(false)} /> : null}
    </FilterRow>
  );
}
