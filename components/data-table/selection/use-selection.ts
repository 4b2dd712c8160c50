import { useEffect, useState } from "react";
import { isTyping, usePageKey } from "@/components/ui/hooks/page-keys";
import { useChosen } from "./select-cells";
import { createSelection, type SelectionStore } from "./selection-store";

/** Selected rows of a list by id, in its order; a row that has left the list is deselected. `meant`: those that "select all" selects. */
export function useSelection(listed: readonly string[], meant = listed) {
  const [store] = useState(createSelection);
  const chosen = useChosen(store, store.ids);
  useEffect(() => store.list(listed, meant));
  useAllRowsKey(store);
  return { store, ids: listed.filter((id) => chosen.has(id)) };
}

/** Ctrl A or ⌘ A selects the rows of the page; pressed again, all that match, if there are more. */
export function useAllRowsKey(store: SelectionStore, chooseMatching?: () => void): void {
  useAllKey(
    () => store.ids().size > 0 || document.activeElement?.closest("tr[data-row]") != null,
    () => {
      if (store.share() === "all" && chooseMatching) chooseMatching();
      else if (!store.isMatching()) store.choosePage();
    },
  );
}

/** `isOurs`: something is selected, or the focus is in the list. Elsewhere, and in a text, the key is the browser's. */
export function useAllKey(isOurs: () => boolean, choose: () => void): void {
  usePageKey((event) => {
    const { key, metaKey, ctrlKey, shiftKey, altKey, target } = event;
    if (key.toLowerCase() !== "a" || metaKey === ctrlKey || shiftKey || altKey || event.defaultPrevented) return;
    if (isTyping(target) || document.querySelector("dialog[open]") || !isOurs()) return;
    event.preventDefault();
    choose();
  });
}
