"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";

/** The server sends a digest that refers to its log instead of error messages. Every page loads this, so it must be small. */
export default function PageError({ error: { name, digest }, retry }: { error: Error & { digest?: string }; retry: () => void }) {
  const t = useTranslations("frame.broken");
  const common = useTranslations("common");
  // Failed chunks are retried only on reload. After an upgrade, open pages reference deleted chunks.
  if (name === "ChunkLoadError")
    return (
      <div className="p-4 md:p-5">
        <FailureNotice
          title={t("chunkFailed")}
          remedy={t("chunkFailedText")}
          actions={<Button onClick={() => window.location.reload()}>{t("reload")}</Button>}
        />
      </div>
    );
  return (
    <div className="p-4 md:p-5">
      <FailureNotice
        title={t("title")}
        remedy={t("text")}
        detail={digest ? t("digest", { digest }) : undefined}
        actions={<Button onClick={retry}>{common("retry")}</Button>}
      />
    </div>
  );
}
