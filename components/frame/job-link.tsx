import { useTranslations } from "next-intl";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { type QueryValues, shortId, toJobHref, withQuery } from "@/lib/browser/urls";
import { useConnection, useConnectionParam } from "./connection/connection-context";

/** Job URLs with the jobs' connection, by default the page's. */
export function useJobHrefs(connectionId?: string) {
  const current = useConnection()?.id;
  const connectionParam = useConnectionParam();
  const connection = connectionId === undefined || connectionId === current ? connectionParam : connectionId;
  return {
    job: (id: string) => toJobHref(id, connection),
    jobs: (query: QueryValues = {}) => withQuery("/jobs", { ...query, connection }),
  };
}

export function JobLink({ id, connection }: { id: string; connection?: string }) {
  const t = useTranslations("common");
  const hrefs = useJobHrefs(connection);
  return (
    <span className="inline-flex shrink-0 items-center gap-0.5">
      <Link href={hrefs.job(id)} title={id} className="font-mono text-sm text-accent underline-offset-2 hover:underline">
        {shortId(id)}
      </Link>
      <CopyButton text={id} label={t("copy", { id })} />
    </span>
  );
}
