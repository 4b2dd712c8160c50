import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";

/** Shown by a page's error boundary. The server sends no message of its own errors, only a reference into its log. */
export function BrokenPage({ digest, onRetry }: { digest?: string; onRetry: () => void }) {
  const t = useTranslations("frame.broken");
  const common = useTranslations("common");
  return (
    <div className="p-4 md:p-5">
      <FailureNotice
        title={t("title")}
        next={t("text")}
        detail={digest ? t("digest", { digest }) : undefined}
        actions={<Button onClick={onRetry}>{common("retry")}</Button>}
      />
    </div>
  );
}
