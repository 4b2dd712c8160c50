import { createStore } from "zustand/vanilla";
import { afterPaint } from "@/lib/browser/after-paint";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console";
import { listHref, type ListLinks, type ListName } from "./list-address";

export type ListChange = Partial<JobSearchQuery>;

/**
 * The list that was asked for last, kept outside React's state: a click renders only the controls that show it. The address,
 * the request to the service and its rows follow after the frame that shows the click.
 */
export type ListState = ReturnType<typeof createListState>;

export function createListState(list: ListName, first: JobSearchQuery, links: ListLinks) {
  const plainHref = (query: JobSearchQuery) => listHref(list, query);
  let here = { query: first, links };
  let asked: JobSearchQuery | undefined;
  let shown = plainHref(first);
  let isPressed = false;
  let isPushing = false;
  let wasTyped = false;
  let isReplacing = false;
  const changes = createStore(() => 0);
  const notifyAll = () => changes.setState((count) => count + 1);
  const query = () => asked ?? here.query;
  const hrefOf = (change: ListChange) => listHref(list, { ...query(), offset: 0, ...change }, here.links);
  const push = () => {
    isPushing = false;
    if (asked === undefined) return;
    if (plainHref(asked) !== plainHref(here.query)) {
      // Bypasses the router, which would request and render the whole page for a new list of rows.
      const href = apiPath(listHref(list, asked, here.links));
      if (isReplacing) window.history.replaceState(null, "", href);
      else window.history.pushState(null, "", href);
      return;
    }
    // Clicked back and forth within a frame.
    asked = undefined;
    isPressed = false;
    notifyAll();
  };
  return {
    list,
    subscribe: changes.subscribe,
    query,
    /** Other rows are being loaded. */
    isMoving: () => plainHref(query()) !== shown,
    hrefOf,
    /** A new query begins on its first page. Words typed in several goes are one step of the browser's history. */
    go(change: ListChange, isTyped = false): void {
      const next = { ...query(), offset: 0, ...change };
      if (plainHref(next) === plainHref(query())) return;
      isReplacing = isTyped && wasTyped;
      wasTyped = isTyped;
      asked = next;
      isPressed = true;
      notifyAll();
      if (!isPushing) afterPaint(push);
      isPushing = true;
    },
    /** Adopts what the address says by now, however it was changed. */
    follow(addressed: JobSearchQuery, its: ListLinks): void {
      here = { query: asked && plainHref(asked) === plainHref(addressed) ? asked : addressed, links: its };
      if (!isPushing) asked = undefined;
      notifyAll();
    },
    /** Rows of this list, or the reason why there are none, are on the page. After a click the page scrolls to the first. */
    show(answered: JobSearchQuery): void {
      const href = plainHref(answered);
      if (href === shown) return;
      shown = href;
      if (isPressed && href === plainHref(query())) {
        isPressed = false;
        window.scrollTo({ top: 0 });
      }
      notifyAll();
    },
  };
}
