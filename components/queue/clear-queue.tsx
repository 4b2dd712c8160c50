"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";

type ClearQueueProps = { pending: readonly string[]; isBusy: boolean; onClear: (ids: readonly string[]) => void };

/** Asks first, by number; what is confirmed is what was counted when it asked. */
export function ClearQueue({ pending, isBusy, onClear }: ClearQueueProps) {
  const t = useTranslations("queue");
  const [asked, setAsked] = useState<readonly string[]>();
  const close = () => setAsked(undefined);
  const title = t("clear", { count: (asked ?? pending).length });
  return (
    <>
      <Button tone="danger" disabled={pending.length === 0} busy={isBusy} onClick={() => setAsked(pending)}>
        {pending.length === 0 ? t("clearNone") : t("clear", { count: pending.length })}
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
                if (asked) onClear(asked);
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
