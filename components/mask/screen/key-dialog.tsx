"use client";

import { useTranslations } from "next-intl";
import { Fragment } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { keyList } from "../input/keys";

export function KeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useTranslations("masks.keys");
  const common = useTranslations("common");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("title")}
      actions={<Button onClick={onClose}>{common("close")}</Button>}
      className="w-[min(720px,calc(100vw-32px))]"
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 gap-y-1.5 sm:grid-cols-[auto_minmax(0,1fr)_auto_minmax(0,1fr)]">
        {keyList.map(({ act, shown }) => (
          <Fragment key={act}>
            <dt className="flex gap-1">
              {shown.map((key) => (
                <kbd key={key} className="rounded-sm border border-line-strong bg-sunken px-1.5 font-mono text-sm text-ink">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{t(act)}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
