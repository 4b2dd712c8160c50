import { useTranslations } from "next-intl";
import { getLastOffset } from "@/components/data-table/paging";
import { useListQuery } from "@/components/frame/list/list-state";
import { RunLink } from "@/components/frame/list/tool-bar";
import { cn } from "@/components/ui/cn";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { useTimeFormat } from "@/components/ui/time";
import { type JobReach } from "@/lib/contract/console";
import { isFilteredList, type ListName, noFilters } from "./list-urls";
import { type JobListState } from "./use-job-list";

type ListEmptyProps = { list: ListName; state: JobListState; total?: number; canRun: boolean };

/** Explains why there are no rows, with a link to a list that may have some. */
export function ListEmpty({ list, state, total, canRun }: ListEmptyProps) {
  const query = useListQuery(state);
  const { getHref } = state;
  const t = useTranslations(`${list}.empty`);
  const pageTexts = useTranslations("jobList.empty");
  const renderLink = (href: string, label: string) => <ButtonLink href={href}>{label}</ButtonLink>;
  if (query.offset > 0 && total !== 0) {
    const lastPageOffset = total === undefined ? undefined : getLastOffset(total, query.limit);
    // If all rows of the last page were removed, offers the first page.
    const pageLink =
      lastPageOffset === undefined || lastPageOffset >= query.offset
        ? renderLink(getHref({ offset: 0 }), pageTexts("firstPage"))
        : renderLink(getHref({ offset: lastPageOffset }), pageTexts("lastPage"));
    return (
      <EmptyState
        title={pageTexts("beyond")}
        text={total === undefined ? undefined : pageTexts("beyondText", { total })}
        action={pageLink}
      />
    );
  }
  if (isFilteredList(query)) return <EmptyState title={t("filtered")} action={renderLink(getHref(noFilters), t("showAll"))} />;
  return <EmptyState title={t("title")} text={t("text")} action={canRun ? <RunLink /> : undefined} />;
}

/** Shows how far back the search went, since a job that was not found may still exist. */
export function SearchCoverageNotice({ reach }: { reach: JobReach | undefined }) {
  const t = useTranslations("jobSearch.reach");
  const formatTime = useTimeFormat();
  if (!reach) return null;
  const { extent, sinceMs, unread, asOfMs } = reach;
  const date = sinceMs === undefined ? undefined : (formatTime(sinceMs, "day") ?? "…");
  const undatedNote = extent === "newest" ? t("undated") : t("starting");
  const coverageNotes = extent === "all" ? [] : [date === undefined ? undatedNote : t(extent, { date })];
  const isOutage = asOfMs !== undefined;
  const getOutageText = () => (asOfMs ? t("outage", { date: formatTime(asOfMs, "until") ?? "…" }) : t("outageUnknown"));
  const notes = [...(isOutage ? [getOutageText()] : []), ...coverageNotes, ...(unread > 0 ? [t("unread", { count: unread })] : [])];
  if (notes.length === 0) return null;
  return (
    <p role="status" className={cn("border-b border-line px-4 py-1.5 text-sm md:px-5", isOutage ? "bg-wait-soft text-wait" : "text-ink-3")}>
      {notes.join(" ")}
    </p>
  );
}

export function ListLimitNotice() {
  const t = useTranslations("jobSearch.reach");
  return <p className="border-b border-line px-4 py-1.5 text-sm text-ink-3 md:px-5">{t("listCut")}</p>;
}
