"use client";

import dynamic from "next/dynamic";
import { useEffect, useState } from "react";
import { isFreeKey } from "@/components/ui/free-key";
import { FILTERS } from "./tool-bar";

const ShortcutSheet = dynamic(() => import("./shortcut-sheet").then((module) => module.ShortcutSheet), { ssr: false });

/** The keys that every page has: `/` leads to its filters, `?` lists all keys. The list comes with the first press. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.defaultPrevented || !isFreeKey(event)) return;
      if (event.key === "?") setOpen(true);
      else if (event.key !== "/" || !focusFilters()) return;
      event.preventDefault();
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return isOpen ? <ShortcutSheet onClose={() => setOpen(false)} /> : null;
}

/** A field to type in before a link to press; false where the page filters nothing. */
function focusFilters(): boolean {
  const filters = document.querySelector(`[${FILTERS}]`);
  const first = filters?.querySelector<HTMLElement>('input[type="search"]') ?? filters?.querySelector<HTMLElement>("a, select");
  first?.focus();
  return first !== undefined && first !== null;
}
