"use client";

import { Play } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { Button } from "@/components/ui/button";

type RunButtonProps = { isSending: boolean; uploading: number; onRun: () => void; className?: string };

export function RunButton({ isSending, uploading, onRun, className }: RunButtonProps) {
  const t = useTranslations("run.run");
  return (
    <Button tone="primary" busy={isSending || uploading > 0} onClick={onRun} title={t("hint")} className={className}>
      <Play aria-hidden="true" className="size-3.5 fill-current" />
      {uploading > 0 ? t("waiting", { count: uploading }) : isSending ? t("sending") : t("button")}
    </Button>
  );
}

/** Ctrl Enter or ⌘ Enter, from any field. */
export function useRunKey(onRun: () => void): void {
  const press = useEffectEvent(onRun);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
      event.preventDefault();
      press();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
