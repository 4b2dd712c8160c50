import { useEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { Checkbox } from "@/components/ui/controls/fields";
import { isTyping, usePageKey } from "@/components/ui/hooks/page-keys";
import { between } from "@/components/ui/hooks/use-range";

export function useSelectionValue<T extends string | boolean | ReadonlySet<string>>(store: SelectionStore, read: () => T): T {
  return useSyncExternalStore(store.subscribe, read, read);
}

type SelectRowProps = { id: string; label: string; store: SelectionStore };

/** The whole cell is clickable and above the row's link. Shift selects the range from the last clicked row. */
export function SelectRow({ id, label, store }: SelectRowProps) {
  const isOn = useSelectionValue(store, () => store.has(id));
  return (
    // With Shift the browser would select the text between the two clicks.
    <label className="select-cell" onMouseDown={(event) => (event.shiftKey ? event.preventDefault() : undefined)}>
      {/* A plain element, with the row's colour from the stylesheet: selecting all renders as many of these as the window holds. */}
      <input
        type="checkbox"
        aria-label={label}
        checked={isOn}
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

/** Selected rows of a list by id, in its order; a row that has left the list is deselected. `selectable`: those that "select all" selects. */
export function useSelection(ids: readonly string[], selectable = ids) {
  const [store] = useState(createSelection);
  const selectionValue = useSelectionValue(store, store.ids);
  useEffect(() => store.list(ids, selectable));
  useAllRowsKey(store);
  return { store, ids: ids.filter((id) => selectionValue.has(id)) };
}

/** Ctrl A or ⌘ A selects the rows of the page; pressed again, all that match, if there are more. */
export function useAllRowsKey(store: SelectionStore, selectMatching?: () => void): void {
  useAllKey(
    () => store.ids().size > 0 || document.activeElement?.closest("tr[data-row]") != null,
    () => {
      if (store.share() === "all" && selectMatching) selectMatching();
      else if (!store.isMatching()) store.selectPage();
    },
  );
}

/** `isOurs`: something is selected or the focus is in the list. Otherwise the browser handles the key. */
export function useAllKey(isApplicable: () => boolean, select: () => void): void {
  usePageKey((event) => {
    const { key, metaKey, ctrlKey, shiftKey, altKey, target } = event;
    if (key.toLowerCase() !== "a" || metaKey === ctrlKey || shiftKey || altKey || event.defaultPrevented) return;
    if (isTyping(target) || document.querySelector("dialog[open]") || !isApplicable()) return;
    event.preventDefault();
    select();
  });
}

// The selected rows are outside React's state: selecting one of a thousand rows renders one checkbox. `matching` means all rows that match
// the filters, on all pages; selecting single rows ends it.

export type SelectionStore = ReturnType<typeof createSelection>;

export function createSelection() {
  let listedIds: readonly string[] = [];
  let page: readonly string[] = [];
  let ids: ReadonlySet<string> = new Set();
  let isMatching = false;
  let leftOut: ReadonlySet<string> = new Set();
  let anchor: string | undefined;
  const changes = createStore(() => 0);
  const notify = () => changes.setState((count) => count + 1);
  const become = (next: ReadonlySet<string>, matching = false) => {
    ids = next;
    isMatching = matching;
    leftOut = new Set();
    notify();
  };
  const has = (id: string) => (isMatching ? !leftOut.has(id) : ids.has(id));
  return {
    subscribe: changes.subscribe,
    /** Sets the page's rows, in order. `selectable`: those that "select all" selects. */
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
    /** With `isRange`, everything from the last clicked one to this one. */
    select(id: string, isOn: boolean, isRange = false): void {
      const next = new Set(isMatching ? listedIds.filter(has) : ids);
      for (const each of isRange ? between(listedIds, anchor, id) : [id]) {
        if (isOn) next.add(each);
        else next.delete(each);
      }
      anchor = id;
      become(next);
    },
    /** Adds these, unless all that match are selected already. */
    add(these: Iterable<string>): void {
      if (!isMatching) become(new Set([...ids, ...these]));
    },
    /** Selects these and no others, anywhere in the list. */
    replace: (ids: Iterable<string>) => become(new Set(ids)),
    selectPage: () => become(new Set(page)),
    selectMatching: () => become(new Set(listedIds), true),
    /** Excludes these from all that match; the caller then finds out the others and selects those. */
    leaveOut(ids: Iterable<string>): void {
      leftOut = new Set(ids);
      notify();
    },
    /** Returns whether anything was selected. */
    clear: (): boolean => {
      anchor = undefined;
      const wasAny = ids.size > 0 || isMatching;
      if (wasAny) become(new Set());
      return wasAny;
    },
  };
}

function isSame(ids: readonly string[], otherIds: readonly string[]): boolean {
  return ids.length === otherIds.length && ids.every((id, at) => id === otherIds[at]);
}
