"use client";

import { Search } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect } from "react";
import { create } from "zustand";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useHydrated } from "@/components/ui/time/use-now";

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

/** What may open over every page by a key, a button or a command: the commands, or the list of keys. */
type Overlay = "palette" | "keys";

export const useOverlay = create<Overlay | undefined>(() => undefined);

export function showOverlay(overlay: Overlay | undefined): void {
  useOverlay.setState(overlay, true);
}

/** `also`: more search terms. */
type PageAction = { key: string; label: string; also?: string; run: () => void };

/** What the open page adds to the command palette. */
export const usePageActions = create<readonly PageAction[]>(() => []);

/** Adds the page's own actions to the command palette while the page is open. `actions` must be stable. */
export function useOfferActions(actions: readonly PageAction[]): void {
  useEffect(() => {
    usePageActions.setState(actions, true);
    return () => usePageActions.setState([], true);
  }, [actions]);
}
