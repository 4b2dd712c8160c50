"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";

/** The server sends a digest that refers to its log instead of error messages. Every page loads this, so it must be small. */
export default function PageError({ error: { digest }, reset }: { error: Error & { digest?: string }; reset: () => void }) {
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
