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
  const pageSelection = useSelectionValue(store, store.getPageSelection);
  return (
    <label className="select-cell">
      <Checkbox
        aria-label={label}
        checked={pageSelection === "all"}
        indeterminate={pageSelection === "some"}
        disabled={isEmpty}
        onChange={() => (pageSelection === "all" ? store.clear() : store.selectPage())}
      />
    </label>
  );
}

/** The selected ids of a list, in order. Removed rows are deselected. `selectableIds`: the rows that "select all" selects. */
export function useSelection(ids: readonly string[], selectableIds = ids) {
  const [store] = useState(createSelection);
  const selectedIds = useSelectionValue(store, store.getIds);
  useEffect(() => store.setRows(ids, selectableIds));
  useSelectAllRowsKey(store);
  return { store, ids: ids.filter((id) => selectedIds.has(id)) };
}

/** Ctrl A or ⌘ A selects the rows of the page. Pressed again, it selects all matching rows. */
export function useSelectAllRowsKey(store: SelectionStore, selectMatching?: () => void): void {
  useSelectAllKey(
    () => store.getIds().size > 0 || document.activeElement?.closest("tr[data-row]") != null,
    () => {
      if (store.getPageSelection() === "all" && selectMatching) selectMatching();
      else if (!store.isMatching()) store.selectPage();
    },
  );
}

/** `isApplicable`: something is selected or the focus is in the list. Otherwise the browser handles the key. */
export function useSelectAllKey(isApplicable: () => boolean, select: () => void): void {
  usePageKey((event) => {
    const { key, metaKey, ctrlKey, shiftKey, altKey, target } = event;
    if (key.toLowerCase() !== "a" || metaKey === ctrlKey || shiftKey || altKey || event.defaultPrevented) return;
    if (isTyping(target) || document.querySelector("dialog[open]") || !isApplicable()) return;
    event.preventDefault();
    select();
  });
}

// The selection is outside React's state, so that selecting a row renders only one checkbox. `isMatching`: all rows that match the filters are
// selected, on all pages, until individual rows are selected.

export type SelectionStore = ReturnType<typeof createSelection>;

export function createSelection() {
  let listedIds: readonly string[] = [];
  let selectableIds: readonly string[] = [];
  let ids: ReadonlySet<string> = new Set();
  let isMatching = false;
  let excludedIds: ReadonlySet<string> = new Set();
  let anchor: string | undefined;
  const changes = createStore(() => 0);
  const notify = () => changes.setState((count) => count + 1);
  const setSelected = (selectedIds: ReadonlySet<string>, isAllMatching = false) => {
    ids = selectedIds;
    isMatching = isAllMatching;
    excludedIds = new Set();
    notify();
  };
  const has = (id: string) => (isMatching ? !excludedIds.has(id) : ids.has(id));
  return {
    subscribe: changes.subscribe,
    /** Sets the page's rows, in order. `newSelectableIds`: the rows that "select all" selects. */
    setRows(newIds: readonly string[], newSelectableIds = newIds): void {
      if (areSameIds(newIds, listedIds) && areSameIds(newSelectableIds, selectableIds)) return;
      listedIds = newIds;
      selectableIds = newSelectableIds;
      if (ids.size > 0) notify();
    },
    getIds: () => ids,
    isMatching: () => isMatching,
    has,
    /** Whether none, some or all rows of the page are selected. */
    getPageSelection(): "none" | "some" | "all" {
      if (ids.size === 0 || selectableIds.length === 0) return "none";
      const count = selectableIds.filter(has).length;
      return count === 0 ? "none" : count === selectableIds.length ? "all" : "some";
    },
    /** Selects or deselects a row. With `isRange`, applies to the range since the last clicked row. */
    select(id: string, isSelected: boolean, isRange = false): void {
      const newIds = new Set(isMatching ? listedIds.filter(has) : ids);
      for (const rowId of isRange ? getRange(listedIds, anchor, id) : [id]) {
        if (isSelected) newIds.add(rowId);
        else newIds.delete(rowId);
      }
      anchor = id;
      setSelected(newIds);
    },
    /** Adds these rows, unless all matching rows are selected. */
    add(newIds: Iterable<string>): void {
      if (!isMatching) setSelected(new Set([...ids, ...newIds]));
    },
    /** Selects only these rows, anywhere in the list. */
    replace: (ids: Iterable<string>) => setSelected(new Set(ids)),
    selectPage: () => setSelected(new Set(selectableIds)),
    selectMatching: () => setSelected(new Set(listedIds), true),
    /** Excludes these rows from all matching rows. The caller then loads and selects the others. */
    exclude(ids: Iterable<string>): void {
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

function areSameIds(ids: readonly string[], otherIds: readonly string[]): boolean {
  return ids.length === otherIds.length && ids.every((id, index) => id === otherIds[index]);
}
