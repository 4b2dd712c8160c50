import dynamic from "next/dynamic";
import { type ReactNode } from "react";
import { FiltersPopover } from "@/components/frame/list/filters-popover";
import { TimeFilter } from "@/components/frame/list/time-filter";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { type JobSearch } from "@/lib/contract/jobs/job-list";

const loadPerson = () => import("./person-filter");
const PersonFilter = dynamic(() => loadPerson().then((module) => module.PersonFilter), { ssr: false });

const spans = ["hour", "day", "week", "month"] as const;

type JobFiltersProps = {
  search: JobSearch;
  connection: string | undefined;
  onGo: (change: JobSearch) => void;
  /** The number of active filters in `children`. */
  count?: number;
  /** Filters of specific lists. */
  children?: ReactNode;
};

/** Filters by submission time and, in the popover, by member. */
export function JobSearchFilters({ search, connection, onGo, count = 0, children }: JobFiltersProps) {
  useAtFirstMove(loadPerson);
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
