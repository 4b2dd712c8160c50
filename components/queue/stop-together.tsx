"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { useConfirmed } from "@/components/frame/use-confirmed";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { type ApiFailure } from "@/lib/browser/read-failure";

/** For services without a way to stop one job: asks first, by number, since the others stop too. */
export function StopTogether({ count, onStop }: { count: number; onStop: () => Promise<ApiFailure | undefined> }) {
  const t = useTranslations("queue");
  const [isAsking, setAsking] = useState(false);
  const question = useConfirmed({ isOpen: isAsking, act: onStop, close: () => setAsking(false) });
  return (
    <>
      <Button
        size="small"
        onClick={() => {
          question.begin();
          setAsking(true);
        }}
      >
        {t("stopTogether", { count })}
      </Button>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("stopTogetherTitle", { count })}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t("keepRunning")}</Button>
            <Button tone="danger" busy={question.isBusy} onClick={() => void question.confirm()}>
              {t("stopTogetherTitle", { count })}
            </Button>
          </>
        }
      >
        <p>{t("stopTogetherText")}</p>
        {question.failure ? <FailureMessage failure={question.failure} className="mt-3" /> : null}
      </Dialog>
    </>
  );
}
