import { useTranslations } from "next-intl";
import { lastOffset } from "@/components/data-table/page-range";
import { noSearch } from "@/components/jobs/search/search-address";
import { buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { isSearch } from "@/lib/contract/job-search";
import { type JobsPlace } from "./list-state";
import { usePlaceOf } from "./use-list-state";

type JobsEmptyProps = { place: JobsPlace; total?: number; canRun: boolean };

export function JobsEmpty({ place, total, canRun }: JobsEmptyProps) {
  const { query, hrefOf } = usePlaceOf(place);
  const t = useTranslations("jobs.empty");
  const reset = (href: string, label: string) => (
    <Link href={href} className={buttonStyle()}>
      {label}
    </Link>
  );
  if (query.offset > 0 && total !== 0) {
    const way =
      total === undefined ? reset(hrefOf({}), t("firstPage")) : reset(hrefOf({ offset: lastOffset(total, query.limit) }), t("lastPage"));
    return <EmptyState title={t("beyond")} text={total === undefined ? undefined : t("beyondText", { total })} action={way} />;
  }
  if (query.status || query.workflow_id || query.output_type || isSearch(query)) {
    const all = hrefOf({ status: undefined, workflow_id: undefined, output_type: undefined, ...noSearch });
    return <EmptyState title={t("filtered")} action={reset(all, t("showAll"))} />;
  }
  return <EmptyState title={t("title")} text={t("text")} action={canRun ? reset("/run", t("run")) : undefined} />;
}
