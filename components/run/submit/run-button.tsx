import { Play } from "lucide-react";
import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { usePageKey } from "@/components/ui/hooks/page-keys";

export type RunButtonProps = {
  isSending: boolean;
  uploading: number;
  /** The id of the text that says why this member may not run; absent where they may. */
  refusedBy?: string;
  onRun: () => void;
  className?: string;
};

export function RunButton({ isSending, uploading, refusedBy, onRun, className }: RunButtonProps) {
  const t = useTranslations("run.run");
  const face = (
    <>
      <Play aria-hidden="true" className="size-3.5 fill-current" />
      {uploading > 0 ? t("waiting", { count: uploading }) : isSending ? t("sending") : t("button")}
    </>
  );
  if (refusedBy !== undefined) {
    // The button can still be focused, so that a screen reader says why it is disabled; pressing it scrolls to the reason.
    return (
      <button
        type="button"
        aria-disabled="true"
        aria-describedby={refusedBy}
        onClick={() => document.getElementById(refusedBy)?.scrollIntoView?.({ block: "center" })}
        className={cn(buttonStyle({ tone: "primary" }), className)}
      >
        {face}
      </button>
    );
  }
  // The second click of a double click (`detail` counts them) is ignored, even if the first was answered in between.
  return (
    <Button
      tone="primary"
      busy={isSending || uploading > 0}
      onClick={({ detail }) => (detail > 1 ? undefined : onRun())}
      title={t("hint")}
      className={className}
    >
      {face}
    </Button>
  );
}

/** Ctrl Enter or ⌘ Enter, from any field. */
export function useRunKey(onRun: () => void): void {
  usePageKey((event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
    event.preventDefault();
    onRun();
  });
}
