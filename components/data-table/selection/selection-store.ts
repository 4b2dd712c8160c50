// The selected rows, outside React's state: selecting one of a thousand rows renders one checkbox.
// `matching` means everything that the filters match, on all pages; selecting single rows ends it.

import { createStore } from "zustand/vanilla";
import { between } from "@/components/ui/hooks/use-range";

export type SelectionStore = ReturnType<typeof createSelection>;

export function createSelection() {
  let listed: readonly string[] = [];
  let page: readonly string[] = [];
  let ids: ReadonlySet<string> = new Set();
  let isMatching = false;
  let leftOut: ReadonlySet<string> = new Set();
  let anchor: string | undefined;
  const changes = createStore(() => 0);
  const tell = () => changes.setState((count) => count + 1);
  const become = (next: ReadonlySet<string>, matching = false) => {
    ids = next;
    isMatching = matching;
    leftOut = new Set();
    tell();
  };
  const has = (id: string) => (isMatching ? !leftOut.has(id) : ids.has(id));
  return {
    subscribe: changes.subscribe,
    /** Sets the page's rows, in order. `meant`: those that "select all" selects. */
    list(rows: readonly string[], meant = rows): void {
      if (isSame(rows, listed) && isSame(meant, page)) return;
      listed = rows;
      page = meant;
      if (ids.size > 0) tell();
    },
    ids: () => ids,
    isMatching: () => isMatching,
    has,
    /** Whether none, some or all of the page is selected. */
    share(): "none" | "some" | "all" {
      if (ids.size === 0 || page.length === 0) return "none";
      const count = page.filter(has).length;
      return count === 0 ? "none" : count === page.length ? "all" : "some";
    },
    /** With `isRange`, everything from the last clicked one to this one. */
    choose(id: string, isOn: boolean, isRange = false): void {
      const next = new Set(isMatching ? listed.filter(has) : ids);
      for (const each of isRange ? between(listed, anchor, id) : [id]) {
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
    replace: (chosen: Iterable<string>) => become(new Set(chosen)),
    choosePage: () => become(new Set(page)),
    chooseMatching: () => become(new Set(listed), true),
    /** Excludes these from all that match; the caller then finds out the others and selects those. */
    leaveOut(these: Iterable<string>): void {
      leftOut = new Set(these);
      tell();
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

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((id, at) => id === others[at]);
}
