"use client";

import { Play } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { Button } from "@/components/ui/button";

type RunButtonProps = { isSending: boolean; uploading: number; onRun: () => void };

export function RunButton({ isSending, uploading, onRun }: RunButtonProps) {
  const t = useTranslations("run.run");
  const isBusy = isSending || uploading > 0;
  const press = useEffectEvent(() => {
    if (!isBusy) onRun();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      press();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <Button tone="primary" busy={isBusy} onClick={onRun} title={t("hint")}>
      <Play aria-hidden="true" className="size-3.5 fill-current" />
      {uploading > 0 ? t("waiting", { count: uploading }) : isSending ? t("sending") : t("button")}
    </Button>
  );
}
