import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useConfirmed } from "@/components/frame/list/use-confirmed";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";

type StopTogetherProps = { count: number; connection: string | undefined; onDone: () => void };

/** For services without a way to stop one job: asks first, by number, since the others stop too. */
export function StopTogether({ count, connection, onDone }: StopTogetherProps) {
  const t = useTranslations("acts.together");
  const [isAsking, setAsking] = useState(false);
  const question = useConfirmed({
    isOpen: isAsking,
    act: async () => {
      const result = await callApi(withQuery("/api/interrupt", { connection }), { method: "POST", json: {} });
      if (!result.ok) return result.failure;
      showToast({ tone: "run", text: t("asked") });
      onDone();
      return undefined;
    },
    close: () => setAsking(false),
  });
  return (
    <>
      <Button
        size="small"
        onClick={() => {
          question.begin();
          setAsking(true);
        }}
      >
        {t("stop", { count })}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("stop", { count })}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t("keep")}</Button>
            <Button tone="danger" busy={question.isBusy} onClick={() => void question.confirm()}>
              {t("stop", { count })}
            </Button>
          </>
        }
      >
        <p>{t("text")}</p>
        {question.failure ? <FailureMessage failure={question.failure} className="mt-3" /> : null}
      </Dialog>
    </>
  );
}
