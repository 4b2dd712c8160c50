import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useCounts } from "@/components/frame/counts-context";
import { ClearFilters } from "@/components/frame/list/filters-popover";
import { chipStyle } from "@/components/ui/controls/button";
import { Select } from "@/components/ui/controls/fields";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { Link } from "@/components/ui/link";
import { useNumber } from "@/components/ui/time/use-clock";
import { type JobSearchQuery } from "@/lib/contract/console";
import { isSearch, type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type JobRow } from "../job-row";
import { JobSearchFilters } from "../search/job-search-filters";
import { isFilteredList, noFilters } from "./list-address";
import { type ListChange, type ListState, useAskedQuery, useMoving } from "./use-job-list";

const loadMore = () => import("./more-filters");
const MoreFilters = dynamic(() => loadMore().then((module) => module.MoreFilters), { ssr: false });

const sorts = {
  newest: { sort_by: "create_time", sort_order: "desc" },
  oldest: { sort_by: "create_time", sort_order: "asc" },
  longest: { sort_by: "execution_time", sort_order: "desc" },
  shortest: { sort_by: "execution_time", sort_order: "asc" },
} as const satisfies Record<string, Pick<JobSearchQuery, "sort_by" | "sort_order">>;
const sortNames = ["newest", "oldest", "longest", "shortest"] as const;

type JobsFiltersProps = { state: ListState; rows: readonly JobRow[]; total?: number; connection: string | undefined };

export function JobsFilters({ state, rows, total, connection }: JobsFiltersProps) {
  const query = useAskedQuery(state);
  const { go } = state;
  useAtFirstMove(loadMore);
  return (
    <>
      <StatusFilter state={state} total={total} />
      <span aria-hidden="true" className="h-5 shrink-0 border-l border-line" />
      <JobSearchFilters
        search={query}
        connection={connection}
        onGo={go}
        count={[query.workflow_id, query.output_type].filter(Boolean).length}
      >
        <MoreFilters state={state} rows={rows} connection={connection} />
      </JobSearchFilters>
      <ClearFilters isSet={isFilteredList(query)} onClear={() => go(noFilters)} />
    </>
  );
}

export function SortSelect({ state }: { state: ListState }) {
  const t = useTranslations("jobs.filter");
  const query = useAskedQuery(state);
  const sort = sortNames.find((name) => sorts[name].sort_by === query.sort_by && sorts[name].sort_order === query.sort_order);
  return (
    <Select
      aria-label={t("sort")}
      value={sort}
      onChange={({ currentTarget: { value } }) => {
        const wanted = sortNames.find((name) => name === value);
        if (wanted) state.go(sorts[wanted]);
      }}
      className="shrink-0 border-transparent bg-transparent text-ink-3 max-sm:text-[13px]"
    >
      {sortNames.map((name) => (
        <option key={name} value={name}>
          {t(`sorts.${name}`)}
        </option>
      ))}
    </Select>
  );
}

const order = ["in_progress", "pending", "completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];

/** `total`: of the list that is shown. */
type StatusFilterProps = { state: ListState; total?: number };

/** Each chip adds or removes its state. Counts are shown where they are known without a request. */
export function StatusFilter({ state: list, total }: StatusFilterProps) {
  const t = useTranslations("jobs");
  const states = useTranslations("frame.states");
  const { running, pending } = useCounts();
  const query = useAskedQuery(list);
  const isMoving = useMoving(list);
  const chosen = query.status ?? [];
  const isAllWorkflows = !query.workflow_id && !query.output_type && !isSearch(query);
  const counts: Partial<Record<KnownJobState, number>> = {
    ...(isAllWorkflows && { in_progress: running, pending }),
    ...(chosen.length === 1 && chosen[0] && !isMoving && { [chosen[0]]: total }),
  };
  return (
    <>
      <Chip list={list} change={{ status: undefined }} isOn={chosen.length === 0}>
        {t("filter.all")}
      </Chip>
      {order.map((state) => {
        const isOn = chosen.includes(state);
        const next = order.filter((each) => (each === state ? !isOn : chosen.includes(each)));
        return (
          <Chip key={state} list={list} change={{ status: next.length > 0 ? next : undefined }} isOn={isOn}>
            {states(state)} <Count value={counts[state]} hasRoom={isAllWorkflows && (state === "in_progress" || state === "pending")} />
          </Chip>
        );
      })}
    </>
  );
}

type ChipProps = { list: ListState; change: ListChange; isOn: boolean; children: ReactNode };

function Chip({ list, change, isOn, children }: ChipProps) {
  return (
    <Link
      href={list.hrefOf(change)}
      prefetch={false}
      onNavigate={(event) => {
        event.preventDefault();
        list.go(change);
      }}
      aria-current={isOn ? "true" : undefined}
      className={chipStyle(isOn)}
    >
      {children}
    </Link>
  );
}

/** Counts that appear and disappear while jobs run have reserved room, so that the chips beside them do not move. */
function Count({ value, hasRoom }: { value: number | undefined; hasRoom: boolean }) {
  const number = useNumber();
  if (value === undefined && !hasRoom) return null;
  return <span className={hasRoom ? "min-w-[1ch]" : undefined}>{value === undefined ? null : number(value)}</span>;
}
