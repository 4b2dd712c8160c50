"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { useConfirmed } from "@/components/frame/use-confirmed";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { isUnanswered } from "@/lib/browser/clear-all";
import { type ApiFailure } from "@/lib/browser/read-failure";

type ClearQueueProps = { count: number; isBusy: boolean; onClear: (count: number) => Promise<ApiFailure | undefined> };

/** Asks first, by number; the receipt speaks of the number that was asked for. */
export function ClearQueue({ count, isBusy, onClear }: ClearQueueProps) {
  const t = useTranslations("queue");
  const [asked, setAsked] = useState<number>();
  const close = () => setAsked(undefined);
  const question = useConfirmed({
    isOpen: asked !== undefined,
    act: async () => (asked === undefined ? undefined : onClear(asked)),
    close,
  });
  const title = t("clear", { count: asked ?? count });
  return (
    <>
      <Button
        tone="danger"
        disabled={count === 0}
        busy={isBusy}
        onClick={() => {
          question.begin();
          setAsked(count);
        }}
      >
        {count === 0 ? t("clearNone") : t("clear", { count })}
      </Button>
      <Dialog
        isOpen={asked !== undefined}
        onClose={close}
        title={title}
        actions={
          <>
            <Button onClick={close}>{t("keep")}</Button>
            <Button tone="danger" busy={question.isBusy} onClick={() => void question.confirm()}>
              {title}
            </Button>
          </>
        }
      >
        <p>{t("clearText")}</p>
        {question.failure ? (
          <FailureMessage
            failure={question.failure}
            about={isUnanswered(question.failure) ? t("clearUnclear") : undefined}
            className="mt-3"
          />
        ) : null}
      </Dialog>
    </>
  );
}
