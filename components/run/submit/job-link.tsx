import { useTranslations } from "next-intl";
import { useConnection, useLinkedConnection } from "@/components/frame/connection/connection-context";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { type QueryValues, withQuery } from "@/lib/browser/urls";

const SHORT_ID = 8;

/** Addresses of jobs that stay on the jobs' connection: the given one, otherwise the page's, which its address may name. */
export function useJobHrefs(named?: string) {
  const current = useConnection()?.id;
  const linked = useLinkedConnection();
  const connection = named === undefined || named === current ? linked : named;
  return {
    job: (id: string) => withQuery(`/jobs/${encodeURIComponent(id)}`, { connection }),
    jobs: (query: QueryValues = {}) => withQuery("/jobs", { ...query, connection }),
  };
}

/** A link to a job, shown by the first characters of its id. */
export function JobLink({ id, connection }: { id: string; connection?: string }) {
  const t = useTranslations("common");
  const hrefs = useJobHrefs(connection);
  return (
    <span className="inline-flex shrink-0 items-center gap-0.5">
      <Link href={hrefs.job(id)} title={id} className="font-mono text-sm text-accent underline-offset-2 hover:underline">
        {id.slice(0, SHORT_ID)}
      </Link>
      <CopyButton text={id} label={t("copy", { id })} />
    </span>
  );
}
