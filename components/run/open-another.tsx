"use client";

import { useTranslations } from "next-intl";
import { type ComponentProps, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { EmptyRun } from "./empty-run";
import { type Refusal } from "./refusal";

export type WaysIn = Omit<ComponentProps<typeof EmptyRun>, "note" | "recent">;

type OpenAnotherProps = { serial: number; refusal?: Refusal; ways: WaysIn };

/** Every way in that the empty page has. It closes by what came of it: another workflow, or a refusal, which the page tells. */
export function OpenAnother({ serial, refusal, ways }: OpenAnotherProps) {
  const t = useTranslations("run.open");
  const [asked, setAsked] = useState<{ serial: number; refusal?: Refusal }>();
  return (
    <>
      <Button onClick={() => setAsked({ serial, refusal })}>{t("another")}</Button>
      <Dialog
        isOpen={asked !== undefined && asked.serial === serial && asked.refusal === refusal}
        onClose={() => setAsked(undefined)}
        title={t("anotherTitle")}
        className="w-[min(960px,calc(100vw-32px))]"
      >
        <EmptyRun {...ways} />
      </Dialog>
    </>
  );
}
