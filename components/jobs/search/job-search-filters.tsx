import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { TimeFilter } from "@/components/frame/list/time-filter";
import { chipStyle } from "@/components/ui/controls/chip";
import { type JobSearch } from "@/lib/contract/jobs/job-search";

const PersonName = dynamic(() => import("./person-dialog").then((module) => module.PersonName), { loading: () => "…" });
const PersonDialog = dynamic(() => import("./person-dialog").then((module) => module.PersonDialog), { ssr: false });

const spans = ["hour", "day", "week", "month"] as const;

type JobSearchFiltersProps = {
  search: JobSearch;
  connection: string | undefined;
  onGo: (change: JobSearch) => void;
};

/** When a job was submitted, and by whom. */
export function JobSearchFilters({ search, connection, onGo }: JobSearchFiltersProps) {
  return (
    <>
      <TimeFilter range={search} spans={spans} hasAny onGo={onGo} />
      <PersonFilter member={search.member} connection={connection} onPick={(member) => onGo({ member })} />
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
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => setPicking(true)}
        className={chipStyle(member !== undefined, "max-w-52 min-w-16")}
      >
        <span className="truncate">{member === undefined ? t("person") : <PersonName member={member} connection={connection} />}</span>
        <span aria-hidden="true">▾</span>
      </button>
      {isPicking ? <PersonDialog member={member} connection={connection} onPick={pick} onClose={() => setPicking(false)} /> : null}
    </>
  );
}
