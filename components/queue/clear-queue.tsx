"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";

type ClearQueueProps = { count: number; isBusy: boolean; onClear: (count: number) => void };

/** Asks first, by number; the receipt speaks of the number that was asked for. */
export function ClearQueue({ count, isBusy, onClear }: ClearQueueProps) {
  const t = useTranslations("queue");
  const [asked, setAsked] = useState<number>();
  const close = () => setAsked(undefined);
  const title = t("clear", { count: asked ?? count });
  return (
    <>
      <Button tone="danger" disabled={count === 0} busy={isBusy} onClick={() => setAsked(count)}>
        {count === 0 ? t("clearNone") : t("clear", { count })}
      </Button>
      <Dialog
        isOpen={asked !== undefined}
        onClose={close}
        title={title}
        actions={
          <>
            <Button onClick={close}>{t("keep")}</Button>
            <Button
              tone="danger"
              onClick={() => {
                close();
                if (asked !== undefined) onClear(asked);
              }}
            >
              {title}
            </Button>
          </>
        }
      >
        <p>{t("clearText")}</p>
      </Dialog>
    </>
  );
}
