import { useTranslations } from "next-intl";
import { lastOffset } from "@/components/data-table/paging";
import { RunLink } from "@/components/frame/samples/run-link";
import { cn } from "@/components/ui/cn";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { useClock } from "@/components/ui/time/use-clock";
import { type JobReach } from "@/lib/contract/console";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { isFilteredList, noFilters, noSearch } from "./list-address";
import { type ListState, useAskedQuery } from "./use-job-list";

type ListEmptyProps = { state: ListState; total?: number; linked: string | undefined; canRun: boolean };

/** Why there are no rows, and a link to some. */
export function ListEmpty({ state: { list, hrefOf }, state, total, linked, canRun }: ListEmptyProps) {
  const query = useAskedQuery(state);
  const t = useTranslations(`${list}.empty`);
  const pages = useTranslations("jobList.empty");
  const reset = (href: string, label: string) => (
    <Link href={href} className={buttonStyle()}>
      {label}
    </Link>
  );
  if (query.offset > 0 && total !== 0) {
    const last = total === undefined ? undefined : lastOffset(total, query.limit);
    // If this was the last page and its rows have just gone, the first page is offered.
    const way =
      last === undefined || last >= query.offset
        ? reset(hrefOf({ offset: 0 }), pages("firstPage"))
        : reset(hrefOf({ offset: last }), pages("lastPage"));
    return <EmptyState title={pages("beyond")} text={total === undefined ? undefined : pages("beyondText", { total })} action={way} />;
  }
  if (list === "jobs" ? isFilteredList(query) : isSearch(query)) {
    const all = hrefOf(list === "jobs" ? noFilters : noSearch);
    return <EmptyState title={t("filtered")} action={reset(all, t("showAll"))} />;
  }
  return <EmptyState title={t("title")} text={t("text")} action={canRun ? <RunLink linked={linked} /> : undefined} />;
}

/** How far back the search reached, and whether the service answers: a job that was not found may still exist there. */
export function SearchReach({ reach }: { reach: JobReach | undefined }) {
  const t = useTranslations("jobSearch.reach");
  const clock = useClock();
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

/** For a list that ends before the service's jobs do. */
export function ListCut() {
  const t = useTranslations("jobSearch.reach");
  return <p className="border-b border-line px-4 py-1.5 text-sm text-ink-3 md:px-5">{t("listCut")}</p>;
}
