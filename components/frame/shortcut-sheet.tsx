"use client";

import { useTranslations } from "next-intl";
import { Fragment } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";

const keys = [
  { act: "palette", shown: ["Ctrl", "K"] },
  { act: "move", shown: ["j", "k"] },
  { act: "select", shown: ["x"] },
  { act: "open", shown: ["Enter"] },
  { act: "filter", shown: ["/"] },
  { act: "grid", shown: ["←", "↑", "↓", "→"] },
  { act: "close", shown: ["Esc"] },
  { act: "sheet", shown: ["?"] },
] as const;

export function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const t = useTranslations("frame.keys");
  const common = useTranslations("common");
  return (
    <Dialog isOpen onClose={onClose} title={t("title")} actions={<Button onClick={onClose}>{common("close")}</Button>}>
      <dl className="grid grid-cols-[116px_minmax(0,1fr)] gap-y-2">
        {keys.map(({ act, shown }) => (
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
