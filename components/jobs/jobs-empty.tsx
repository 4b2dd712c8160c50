import Link from "next/link";
import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { jobsHref } from "./jobs-address";

type JobsEmptyProps = { query: JobsQuery; connection?: string; canRun: boolean };

export function JobsEmpty({ query, connection, canRun }: JobsEmptyProps) {
  const t = useTranslations("jobs.empty");
  const reset = (href: string, label: string) => (
    <Link href={href} className={buttonStyle()}>
      {label}
    </Link>
  );
  if (query.offset > 0)
    return <EmptyState title={t("beyond")} action={reset(jobsHref(query, { offset: 0, connection }), t("firstPage"))} />;
  if (query.status || query.workflow_id || query.output_type) {
    const all = jobsHref(query, { status: undefined, workflow_id: undefined, output_type: undefined, connection });
    return <EmptyState title={t("filtered")} action={reset(all, t("showAll"))} />;
  }
  return <EmptyState title={t("title")} text={t("text")} action={canRun ? reset("/run", t("run")) : undefined} />;
}
