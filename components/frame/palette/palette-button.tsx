"use client";

import { Search } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect } from "react";
import { create } from "zustand";
import { cn } from "@/components/ui/cn";
import { IconButton } from "@/components/ui/controls/button";
import { useHydrated } from "@/components/ui/time";

/** Opens the command palette and shows its shortcut. */
export function PaletteButton({ isSmall = false, className }: { isSmall?: boolean; className?: string }) {
  const t = useTranslations("frame.palette");
  const isMac = useHydrated() && /mac|iphone|ipad/i.test(navigator.platform);
  if (isSmall) {
    return <IconButton icon={Search} label={t("open")} tone="quiet" aria-haspopup="dialog" onClick={() => showOverlay("palette")} />;
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

/** Dialogs that open on every page: the command palette and the list of shortcuts. */
type Overlay = "palette" | "keys";

export const useOverlay = create<Overlay | undefined>(() => undefined);

export function showOverlay(overlay: Overlay | undefined): void {
  useOverlay.setState(overlay, true);
}

/** `searchTerms`: additional terms that find the action. */
type PageAction = { key: string; label: string; searchTerms?: string; run: () => void };

export const usePageActions = create<readonly PageAction[]>(() => []);

/** Adds the page's own actions to the command palette while the page is open. `actions` must be stable. */
export function useRegisterActions(actions: readonly PageAction[]): void {
  useEffect(() => {
    usePageActions.setState(actions, true);
    return () => usePageActions.setState([], true);
  }, [actions]);
}
