"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";

type PageErrorProps = { error: Error & { digest?: string }; reset: () => void };

/** The server sends no message of its own errors, only a reference into its log. Part of every page's first load. */
export default function PageError({ error: { digest }, reset }: PageErrorProps) {
  const t = useTranslations("frame.broken");
  const common = useTranslations("common");
  return (
    <div className="p-4 md:p-5">
      <FailureNotice
        title={t("title")}
        next={t("text")}
        detail={digest ? t("digest", { digest }) : undefined}
        actions={<Button onClick={reset}>{common("retry")}</Button>}
      />
    </div>
  );
}
