import { useTranslations } from "next-intl";
import { lastOffset } from "@/components/data-table/page-range";
import { RunLink } from "@/components/frame/samples/run-link";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { isFilteredList, noFilters, noSearch } from "./list-address";
import { type ListState } from "./list-state";
import { useAskedQuery } from "./use-list-state";

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
