import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { EmptyState } from "@/components/ui/empty-state";
import { StatusBadge } from "@/components/ui/status-badge";

type JobMissingProps = {
  wasThere: boolean;
  /** It had not ended when it was last seen. */
  wasMoving?: boolean;
  isForbidden?: boolean;
  /** The id can't be part of a URL, so no request was sent. */
  isUnopenable?: boolean;
  /** The link back, where the list is not beside it. */
  back?: ReactNode;
};

/** Shown in place of a state: the service has no trace of a job that waited or ran. */
export function GoneBadge() {
  return <StatusBadge tone="off" word={useTranslations("jobs.job.missing")("badge")} />;
}

/** Most services answer the same for a deleted job and for another person's; so does this page. */
export function JobMissing({ wasThere, wasMoving = false, isForbidden = false, isUnopenable = false, back }: JobMissingProps) {
  const t = useTranslations("jobs.job.missing");
  const cannotOpen = useTranslations("common")("cannotOpen");
  if (isUnopenable) return <EmptyState title={cannotOpen} action={back} />;
  if (isForbidden) return <EmptyState title={t("forbidden")} text={t("forbiddenText")} action={back} />;
  if (!wasThere) return <EmptyState title={t("title")} text={t("text")} action={back} />;
  return (
    <p role="status" className="rounded-lg border border-line bg-off-soft px-3.5 py-2.5">
      {t(wasMoving ? "left" : "vanished")}
    </p>
  );
}
