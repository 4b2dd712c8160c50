"use client";

import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { type Asked } from "./use-bulk";
import { MOST_AT_ONCE } from "./walk-jobs";

type BulkConfirmProps = { asked: Asked | undefined; onClose: () => void; onConfirm: () => void };

/** Asks by the number; a number that one press cannot reach is said before, not after. */
export function BulkConfirm({ asked, onClose, onConfirm }: BulkConfirmProps) {
  const t = useTranslations("acts");
  if (!asked) return null;
  const { act, count } = asked;
  const meant = count === undefined ? undefined : Math.min(count, MOST_AT_ONCE);
  const title = meant === undefined ? t(`ask.${act}.all`) : t(`ask.${act}.title`, { count: meant });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>{t("ask.keep")}</Button>
          <Button tone={act === "runAgain" ? "primary" : "danger"} onClick={onConfirm}>
            {title}
          </Button>
        </>
      }
    >
      <p>{t(`ask.${act}.text`)}</p>
      {count === undefined || count > MOST_AT_ONCE ? <p className="mt-2">{t("ask.bound", { most: MOST_AT_ONCE })}</p> : null}
    </Dialog>
  );
}
