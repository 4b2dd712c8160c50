import { useTranslations } from "next-intl";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { type QueryValues, toJobHref, toShortId, withQuery } from "@/lib/browser/urls";
import { useConnection, useConnectionParam } from "./connection/connection-context";

/** Returns job URLs with the connection of the jobs, by default the connection of the page. */
export function useJobHrefs(connectionId?: string) {
  const currentId = useConnection()?.id;
  const connectionParam = useConnectionParam();
  const connection = connectionId === undefined || connectionId === currentId ? connectionParam : connectionId;
  return {
    getJobHref: (id: string) => toJobHref(id, connection),
    getJobsHref: (query: QueryValues = {}) => withQuery("/jobs", { ...query, connection }),
  };
}

export function JobLink({ id, connection }: { id: string; connection?: string }) {
  const t = useTranslations("common");
  const hrefs = useJobHrefs(connection);
  return (
    <span className="inline-flex shrink-0 items-center gap-0.5">
      <Link href={hrefs.getJobHref(id)} title={id} className="font-mono text-sm text-accent underline-offset-2 hover:underline">
        {toShortId(id)}
      </Link>
      <CopyButton text={id} label={t("copy", { id })} />
    </span>
  );
}
