"use client";

import { Search } from "lucide-react";
import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useHydrated } from "@/components/ui/time/use-now";
import { showOverlay } from "./overlay";

/** Opens the commands without a keyboard, and shows their key. */
export function PaletteButton({ small = false, className }: { small?: boolean; className?: string }) {
  const t = useTranslations("frame.palette");
  const isMac = useHydrated() && /mac|iphone|ipad/i.test(navigator.platform);
  if (small) {
    return (
      <Button
        tone="quiet"
        size="icon"
        aria-haspopup="dialog"
        aria-label={t("open")}
        title={t("open")}
        onClick={() => showOverlay("palette")}
      >
        <Search aria-hidden="true" className="size-4" />
      </Button>
    );
  }
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => showOverlay("palette")}
      className={cn("flex items-center gap-2 rounded-md px-2.5 py-1.5 text-left text-ink-2 hover:bg-off-soft hover:text-ink", className)}
    >
      <Search aria-hidden="true" className="size-3.5 shrink-0" />
      <span className="min-w-0 flex-1 truncate">{t("open")}</span>
      <kbd aria-hidden="true" className="text-xs whitespace-nowrap text-ink-3">
        {isMac ? "⌘ K" : "Ctrl K"}
      </kbd>
    </button>
  );
}
