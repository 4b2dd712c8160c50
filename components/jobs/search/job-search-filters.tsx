import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { FiltersPopover } from "@/components/frame/list/filters-popover";
import { TimeFilter } from "@/components/frame/list/time-filter";
import { FILTERS } from "@/components/frame/list/tool-bar";
import { SearchField } from "@/components/ui/controls/fields";
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

type WordsFieldProps = {
  text: string | undefined;
  /** `isTyped`: called while the person is still typing. */
  onGo: (change: JobSearch, isTyped?: boolean) => void;
};

/** The search field in a list's header: words in prompts, errors and names. */
export function WordsField({ text = "", onGo }: WordsFieldProps) {
  const t = useTranslations("jobSearch");
  return (
    <div role="search" {...{ [FILTERS]: "" }} className="max-sm:order-last max-sm:w-full sm:w-64 lg:ml-3 lg:w-80">
      <SearchField
        aria-label={t("field")}
        placeholder={t("placeholder")}
        text={text}
        maxLength={200}
        className="w-full"
        onSearch={(words) => onGo({ text: words || undefined }, true)}
      />
    </div>
  );
}
