"use client";

import dynamic from "next/dynamic";
import { useEffect } from "react";
import { isShortcutKey, useKeySequence, usePageKey } from "@/components/ui/hooks/page-events";
import { useRouter } from "@/components/ui/link";
import { loadEmptyComponent } from "@/components/ui/skeleton";
import { withQuery } from "@/lib/browser/urls";
import { useConnection, useConnectionParam } from "./connection/connection-context";
import { FILTERS_ATTRIBUTE } from "./list/tool-bar";
import { useRunsAppsOnly } from "./member-context";
import { getDestinations } from "./navigation";
import { showOverlay, useOverlay } from "./palette/palette-button";

const ShortcutSheet = dynamic(() => import("./palette/command-palette").then((module) => module.ShortcutSheet, loadEmptyComponent), {
  ssr: false,
});
const CommandPalette = dynamic(() => import("./palette/command-palette").then((module) => module.CommandPalette, loadEmptyComponent), {
  ssr: false,
});

/**
 * The shortcuts of every page: Ctrl K or ⌘ K opens the command palette, `/` focuses the filters, `?` lists all shortcuts, `g` + letter opens a
 * page. Each dialog loads on first use.
 */
export function Shortcuts() {
  const overlay = useOverlay();
  const router = useRouter();
  const connection = useConnectionParam();
  const destinations = getDestinations(useConnection(), useRunsAppsOnly());
  useKeySequence("g", (key) => {
    const destination = destinations.find(({ shortcutKey }) => shortcutKey === key);
    if (destination) router.push(withQuery(destination.href, { connection }));
    return destination !== undefined;
  });
  usePageKey((event) => {
    if (event.defaultPrevented) return;
    if (isPaletteKey(event)) showOverlay("palette");
    else if (!isShortcutKey(event)) return;
    else if (event.key === "?") showOverlay("keys");
    else if (event.key !== "/" || !focusFilters()) return;
    event.preventDefault();
  });
  useEffect(() => () => showOverlay(undefined), []);
  const close = () => showOverlay(undefined);
  if (overlay === "keys") return <ShortcutSheet onClose={close} />;
  return overlay === "palette" ? <CommandPalette onClose={close} /> : null;
}

/** Works while typing, but not while another dialog is open. */
function isPaletteKey({ key, metaKey, ctrlKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === "k" && metaKey !== ctrlKey && !altKey && !shiftKey && !document.querySelector("dialog[open]");
}

/** Focuses the first field of the filters, otherwise the first link. Returns false if the page has no filters. */
function focusFilters(): boolean {
  const filters = document.querySelector(`[${FILTERS_ATTRIBUTE}]`);
  const target = filters?.querySelector<HTMLElement>('input[type="search"]') ?? filters?.querySelector<HTMLElement>("a, select");
  target?.focus();
  return target !== undefined && target !== null;
}
