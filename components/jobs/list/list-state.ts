import { createStore } from "zustand/vanilla";
import { afterPaint } from "@/lib/browser/after-paint";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/jobs/console-job-search";
import { listHref, type ListLinks, type ListName } from "./list-address";

export type ListChange = Partial<JobSearchQuery>;

/**
 * Which list was asked for last, outside of React's state: a press draws the controls that say it and nothing else of the page. The address,
 * the question to the service and its rows come after the frame that shows the press.
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
      // Not the router's own way: that would ask the server for the whole page, and draw it all, for another list of rows.
      const href = apiPath(listHref(list, asked, here.links));
      if (isReplacing) window.history.replaceState(null, "", href);
      else window.history.pushState(null, "", href);
      return;
    }
    // Pressed to and fro within a frame.
    asked = undefined;
    isPressed = false;
    notifyAll();
  };
  return {
    list,
    subscribe: changes.subscribe,
    query,
    /** Other rows are on their way. */
    isMoving: () => plainHref(query()) !== shown,
    hrefOf,
    /** A new question begins on its first page. Words that are typed in several goes are one step of the way back. */
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
    /** What the address says by now, by whatever way. */
    follow(said: JobSearchQuery, its: ListLinks): void {
      here = { query: asked && plainHref(asked) === plainHref(said) ? asked : said, links: its };
      if (!isPushing) asked = undefined;
      notifyAll();
    },
    /** Rows of this list are on the page, or the reason why there are none. After a press the page scrolls to the first. */
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
