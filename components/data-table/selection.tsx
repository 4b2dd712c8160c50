import { useEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { Checkbox } from "@/components/ui/controls/fields";
import { getRange, isTyping, usePageKey } from "@/components/ui/hooks/page-events";

export function useSelectionValue<T extends string | boolean | ReadonlySet<string>>(store: SelectionStore, read: () => T): T {
  return useSyncExternalStore(store.subscribe, read, read);
}

type SelectRowProps = { id: string; label: string; store: SelectionStore };

/** The whole cell is clickable and above the row's link. Shift selects the range from the last clicked row. */
export function SelectRow({ id, label, store }: SelectRowProps) {
  const isSelected = useSelectionValue(store, () => store.has(id));
  return (
    // With Shift the browser would select the text between the two clicks.
    <label className="select-cell" onMouseDown={(event) => (event.shiftKey ? event.preventDefault() : undefined)}>
      {/* A plain element, since selecting all renders many of these. */}
      <input
        type="checkbox"
        aria-label={label}
        checked={isSelected}
        onChange={({ currentTarget, nativeEvent }) =>
          store.select(id, currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  );
}

export function SelectAllRows({ label, store, isEmpty = false }: Omit<SelectRowProps, "id"> & { isEmpty?: boolean }) {
  const share = useSelectionValue(store, store.share);
  return (
    <label className="select-cell">
      <Checkbox
        aria-label={label}
        checked={share === "all"}
        indeterminate={share === "some"}
        disabled={isEmpty}
        onChange={() => (share === "all" ? store.clear() : store.selectPage())}
      />
    </label>
  );
}

/** The selected ids of a list, in order. Removed rows are deselected. `selectable`: the rows that "select all" selects. */
export function useSelection(ids: readonly string[], selectable = ids) {
  const [store] = useState(createSelection);
  const selectionValue = useSelectionValue(store, store.ids);
  useEffect(() => store.list(ids, selectable));
  useAllRowsKey(store);
  return { store, ids: ids.filter((id) => selectionValue.has(id)) };
}

/** Ctrl A or ⌘ A selects the rows of the page; pressed again, all matching rows. */
export function useAllRowsKey(store: SelectionStore, selectMatching?: () => void): void {
  useAllKey(
    () => store.ids().size > 0 || document.activeElement?.closest("tr[data-row]") != null,
    () => {
      if (store.share() === "all" && selectMatching) selectMatching();
      else if (!store.isMatching()) store.selectPage();
    },
  );
}

/** `isApplicable`: something is selected or the focus is in the list. Otherwise the browser handles the key. */
export function useAllKey(isApplicable: () => boolean, select: () => void): void {
  usePageKey((event) => {
    const { key, metaKey, ctrlKey, shiftKey, altKey, target } = event;
    if (key.toLowerCase() !== "a" || metaKey === ctrlKey || shiftKey || altKey || event.defaultPrevented) return;
    if (isTyping(target) || document.querySelector("dialog[open]") || !isApplicable()) return;
    event.preventDefault();
    select();
  });
}

// The selection is outside React's state, so that selecting a row renders one checkbox. `isMatching`: all rows that match the filters are
// selected, on all pages, until single rows are selected.

export type SelectionStore = ReturnType<typeof createSelection>;

export function createSelection() {
  let listedIds: readonly string[] = [];
  let page: readonly string[] = [];
  let ids: ReadonlySet<string> = new Set();
  let isMatching = false;
  let excludedIds: ReadonlySet<string> = new Set();
  let anchor: string | undefined;
  const changes = createStore(() => 0);
  const notify = () => changes.setState((count) => count + 1);
  const setSelected = (next: ReadonlySet<string>, matching = false) => {
    ids = next;
    isMatching = matching;
    excludedIds = new Set();
    notify();
  };
  const has = (id: string) => (isMatching ? !excludedIds.has(id) : ids.has(id));
  return {
    subscribe: changes.subscribe,
    /** Sets the page's rows, in order. `selectable`: the rows that "select all" selects. */
    list(rows: readonly string[], selectable = rows): void {
      if (isSame(rows, listedIds) && isSame(selectable, page)) return;
      listedIds = rows;
      page = selectable;
      if (ids.size > 0) notify();
    },
    ids: () => ids,
    isMatching: () => isMatching,
    has,
    /** Whether none, some or all rows of the page are selected. */
    share(): "none" | "some" | "all" {
      if (ids.size === 0 || page.length === 0) return "none";
      const count = page.filter(has).length;
      return count === 0 ? "none" : count === page.length ? "all" : "some";
    },
    /** Toggles a row; with `isRange`, the range since the last clicked row. */
    select(id: string, isOn: boolean, isRange = false): void {
      const next = new Set(isMatching ? listedIds.filter(has) : ids);
      for (const each of isRange ? getRange(listedIds, anchor, id) : [id]) {
        if (isOn) next.add(each);
        else next.delete(each);
      }
      anchor = id;
      setSelected(next);
    },
    /** Adds these rows, unless all matching rows are selected. */
    add(these: Iterable<string>): void {
      if (!isMatching) setSelected(new Set([...ids, ...these]));
    },
    /** Selects only these rows, anywhere in the list. */
    replace: (ids: Iterable<string>) => setSelected(new Set(ids)),
    selectPage: () => setSelected(new Set(page)),
    selectMatching: () => setSelected(new Set(listedIds), true),
    /** Excludes these from all matching rows; the caller then loads and selects the others. */
    leaveOut(ids: Iterable<string>): void {
      excludedIds = new Set(ids);
      notify();
    },
    /** Returns whether anything was selected. */
    clear: (): boolean => {
      anchor = undefined;
      const hadSelection = ids.size > 0 || isMatching;
      if (hadSelection) setSelected(new Set());
      return hadSelection;
    },
  };
}

function isSame(ids: readonly string[], otherIds: readonly string[]): boolean {
  return ids.length === otherIds.length && ids.every((id, at) => id === otherIds[at]);
}
