import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useCounts } from "@/components/frame/counts-context";
import { ClearFilters, FiltersPopover } from "@/components/frame/list/filters-popover";
import { useIsNavigating, useListQuery } from "@/components/frame/list/list-state";
import { TimeFilter } from "@/components/frame/list/time-filter";
import { FILTERS_ATTRIBUTE } from "@/components/frame/list/tool-bar";
import { chipStyle } from "@/components/ui/controls/button";
import { Options, SearchField, Select } from "@/components/ui/controls/fields";
import { useOnFirstInteraction } from "@/components/ui/hooks/page-events";
import { Link } from "@/components/ui/link";
import { useNumberFormat } from "@/components/ui/time";
import { type JobSearchQuery } from "@/lib/contract/console";
import { hasSearchFilter, type KnownJobState } from "@/lib/contract/jobs/job-list";
import { type JobRow } from "../job-row";
import { isFilteredList, type ListName, noFilters } from "./list-urls";
import { type JobListState } from "./use-job-list";

const loadMoreFilters = () => import("./more-filters");
const MoreFilters = dynamic(() => loadMoreFilters().then((module) => module.MoreFilters), { ssr: false });

const timeSpans = ["hour", "day", "week", "month"] as const;

const sortOptions = {
  newest: { sort_by: "create_time", sort_order: "desc" },
  oldest: { sort_by: "create_time", sort_order: "asc" },
  longest: { sort_by: "execution_time", sort_order: "desc" },
  shortest: { sort_by: "execution_time", sort_order: "asc" },
} as const satisfies Record<string, Pick<JobSearchQuery, "sort_by" | "sort_order">>;
const sortNames = ["newest", "oldest", "longest", "shortest"] as const;

type JobsFiltersProps = { list: ListName; state: JobListState; rows: readonly JobRow[]; total?: number; connection: string | undefined };

export function JobsFilters({ list, state, rows, total, connection }: JobsFiltersProps) {
  const query = useListQuery(state);
  const { navigate } = state;
  useOnFirstInteraction(loadMoreFilters);
  return (
    <>
      <StatusFilter list={list} state={state} total={total} />
      <span aria-hidden="true" className="h-5 shrink-0 border-l border-line" />
      <TimeFilter range={query} spans={timeSpans} allowsAnyTime onChange={navigate} />
      <FiltersPopover count={[query.member, query.workflow_id, query.output_type].filter(Boolean).length}>
        <MoreFilters state={state} rows={rows} connection={connection} />
      </FiltersPopover>
      <ClearFilters isSet={isFilteredList(query)} onClear={() => navigate(noFilters)} />
    </>
  );
}

/** The search field for prompts, errors and names. */
export function SearchTextField({ text = "", go }: { text: string | undefined; go: JobListState["navigate"] }) {
  const t = useTranslations("jobSearch");
  return (
    <div role="search" {...{ [FILTERS_ATTRIBUTE]: "" }} className="max-sm:order-last max-sm:w-full sm:w-64 lg:ml-3 lg:w-80">
      <SearchField
        aria-label={t("field")}
        placeholder={t("placeholder")}
        text={text}
        maxLength={200}
        className="w-full"
        onSearch={(searchText) => go({ text: searchText || undefined }, true)}
      />
    </div>
  );
}

export function SortSelect({ state }: { state: JobListState }) {
  const t = useTranslations("jobList.filter");
  const query = useListQuery(state);
  const selectedSort = sortNames.find(
    (name) => sortOptions[name].sort_by === query.sort_by && sortOptions[name].sort_order === query.sort_order,
  );
  return (
    <Select
      aria-label={t("sort")}
      value={selectedSort}
      onChange={({ currentTarget: { value } }) => {
        const sortName = sortNames.find((name) => name === value);
        if (sortName) state.navigate(sortOptions[sortName]);
      }}
      className="shrink-0 border-transparent bg-transparent text-ink-3 max-sm:text-[13px]"
    >
      <Options of={sortNames.map((name) => [name, t(`sorts.${name}`)])} />
    </Select>
  );
}

const statusOrder = ["in_progress", "pending", "completed", "failed", "cancelled"] as const satisfies readonly KnownJobState[];

/** `total`: the number of jobs in the current list. */
type StatusFilterProps = { list: ListName; state: JobListState; total?: number };

/** Chips that toggle a state. Counts are shown if they need no request. */
export function StatusFilter({ list, state: listState, total }: StatusFilterProps) {
  const t = useTranslations("jobList");
  const states = useTranslations("frame.states");
  const { running, pending } = useCounts();
  const query = useListQuery(listState);
  const isNavigating = useIsNavigating(listState);
  const selectedStatuses = query.status ?? [];
  const isAllWorkflows = !query.workflow_id && !query.output_type && !hasSearchFilter(query);
  const counts: Partial<Record<KnownJobState, number>> = {
    ...(isAllWorkflows && { in_progress: running, pending }),
    ...(selectedStatuses.length === 1 && selectedStatuses[0] && !isNavigating && { [selectedStatuses[0]]: total }),
  };
  return (
    <>
      <Chip state={listState} change={{ status: undefined }} isSelected={selectedStatuses.length === 0}>
        {t("filter.all")}
      </Chip>
      {statusOrder.slice(list === "history" ? 2 : 0).map((state) => {
        const isSelected = selectedStatuses.includes(state);
        const nextStatuses = statusOrder.filter((status) => (status === state ? !isSelected : selectedStatuses.includes(status)));
        return (
          <Chip
            key={state}
            state={listState}
            change={{ status: nextStatuses.length > 0 ? nextStatuses : undefined }}
            isSelected={isSelected}
          >
            {states(state)}{" "}
            <Count value={counts[state]} reservesSpace={isAllWorkflows && (state === "in_progress" || state === "pending")} />
          </Chip>
        );
      })}
    </>
  );
}

type ChipProps = { state: JobListState; change: Partial<JobSearchQuery>; isSelected: boolean; children: ReactNode };

function Chip({ state, change, isSelected, children }: ChipProps) {
  return (
    <Link
      href={state.getHref(change)}
      prefetch={false}
      onNavigate={(event) => {
        event.preventDefault();
        state.navigate(change);
      }}
      aria-current={isSelected ? "true" : undefined}
      className={chipStyle(isSelected)}
    >
      {children}
    </Link>
  );
}

/** Reserves space for counts, so that chips don't move while jobs run. */
function Count({ value, reservesSpace }: { value: number | undefined; reservesSpace: boolean }) {
  const formatNumber = useNumberFormat();
  if (value === undefined && !reservesSpace) return null;
  return <span className={reservesSpace ? "min-w-[1ch]" : undefined}>{value === undefined ? null : formatNumber(value)}</span>;
}
