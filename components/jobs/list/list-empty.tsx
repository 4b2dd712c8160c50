import { useTranslations } from "next-intl";
import { lastOffset } from "@/components/data-table/paging";
import { useListQuery } from "@/components/frame/list/list-state";
import { RunLink } from "@/components/frame/samples/run-link";
import { cn } from "@/components/ui/cn";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { useTimeFormat } from "@/components/ui/time/use-time-format";
import { type JobReach } from "@/lib/contract/console";
import { isFilteredList, type ListName, noFilters } from "./list-address";
import { type JobListState } from "./use-job-list";

type ListEmptyProps = { list: ListName; state: JobListState; total?: number; canRun: boolean };

/** Why there are no rows, and a link to some. */
export function ListEmpty({ list, state, total, canRun }: ListEmptyProps) {
  const query = useListQuery(state);
  const { hrefOf } = state;
  const t = useTranslations(`${list}.empty`);
  const pages = useTranslations("jobList.empty");
  const reset = (href: string, label: string) => <ButtonLink href={href}>{label}</ButtonLink>;
  if (query.offset > 0 && total !== 0) {
    const last = total === undefined ? undefined : lastOffset(total, query.limit);
    // If this was the last page and its rows are gone, offers the first page.
    const firstPageLink =
      last === undefined || last >= query.offset
        ? reset(hrefOf({ offset: 0 }), pages("firstPage"))
        : reset(hrefOf({ offset: last }), pages("lastPage"));
    return (
      <EmptyState title={pages("beyond")} text={total === undefined ? undefined : pages("beyondText", { total })} action={firstPageLink} />
    );
  }
  if (isFilteredList(query)) return <EmptyState title={t("filtered")} action={reset(hrefOf(noFilters), t("showAll"))} />;
  return <EmptyState title={t("title")} text={t("text")} action={canRun ? <RunLink /> : undefined} />;
}

/** How far back the search reached, and whether the service responds: an unfound job may still exist. */
export function SearchReach({ reach }: { reach: JobReach | undefined }) {
  const t = useTranslations("jobSearch.reach");
  const clock = useTimeFormat();
  if (!reach) return null;
  const { extent, sinceMs, unread, asOfMs } = reach;
  const date = sinceMs === undefined ? undefined : (clock(sinceMs, "day") ?? "…");
  const undated = extent === "newest" ? t("undated") : t("starting");
  const covered = extent === "all" ? [] : [date === undefined ? undated : t(extent, { date })];
  const isOut = asOfMs !== undefined;
  const outage = () => (asOfMs ? t("outage", { date: clock(asOfMs, "until") ?? "…" }) : t("outageUnknown"));
  const notes = [...(isOut ? [outage()] : []), ...covered, ...(unread > 0 ? [t("unread", { count: unread })] : [])];
  if (notes.length === 0) return null;
  return (
    <p role="status" className={cn("border-b border-line px-4 py-1.5 text-sm md:px-5", isOut ? "bg-wait-soft text-wait" : "text-ink-3")}>
      {notes.join(" ")}
    </p>
  );
}

export function ListCut() {
  const t = useTranslations("jobSearch.reach");
  return <p className="border-b border-line px-4 py-1.5 text-sm text-ink-3 md:px-5">{t("listCut")}</p>;
}
