import Link from "next/link";
import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { withQuery } from "@/lib/browser/urls";

type JobMissingProps = { wasThere: boolean; isForbidden?: boolean; connection?: string };

/** Most services say the same of a job that is gone and of one that is somebody else's; so does this page. */
export function JobMissing({ wasThere, isForbidden = false, connection }: JobMissingProps) {
  const t = useTranslations("jobs.job.missing");
  const back = (
    <Link href={withQuery("/jobs", { connection })} className={buttonStyle()}>
      {t("back")}
    </Link>
  );
  if (isForbidden) return <EmptyState title={t("forbidden")} text={t("forbiddenText")} action={back} />;
  if (!wasThere) return <EmptyState title={t("title")} text={t("text")} action={back} />;
  return (
    <p role="status" className="rounded-lg border border-line bg-off-soft px-3.5 py-2.5">
      {t("vanished")}
    </p>
  );
}
