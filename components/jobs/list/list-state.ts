import { afterPaint } from "@/lib/browser/after-paint";
import { apiPath } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { jobsHref, type JobsLinks } from "./list-address";

export type JobsChange = Partial<JobSearchQuery>;

/**
 * Which list was asked for last, outside of React's state: a press draws the controls that say it and nothing else of the page. The address,
 * the question to the service and its rows come after the frame that shows the press.
 */
export type JobsPlace = ReturnType<typeof createJobsPlace>;

export function createJobsPlace(first: JobSearchQuery, links: JobsLinks) {
  let here = { query: first, links };
  let asked: JobSearchQuery | undefined;
  let arrived = jobsHref(first);
  let isPressed = false;
  let isPushing = false;
  let wasTyped = false;
  let isReplacing = false;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const notify of listeners) notify();
  };
  const query = () => asked ?? here.query;
  const hrefOf = (change: JobsChange) => jobsHref({ ...query(), offset: 0, ...change }, here.links);
  const push = () => {
    isPushing = false;
    if (asked === undefined) return;
    if (jobsHref(asked) !== jobsHref(here.query)) {
      // Not the router's own way: that would ask the server for the whole page, and draw it all, for another list of rows.
      const href = apiPath(jobsHref(asked, here.links));
      if (isReplacing) window.history.replaceState(null, "", href);
      else window.history.pushState(null, "", href);
      return;
    }
    // Pressed to and fro within a frame.
    asked = undefined;
    isPressed = false;
    tell();
  };
  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    query,
    /** Other rows are on their way. */
    isMoving: () => jobsHref(query()) !== arrived,
    hrefOf,
    /** A new question begins on its first page. Words that are typed in several goes are one step of the way back. */
    go(change: JobsChange, isTyped = false): void {
      const next = { ...query(), offset: 0, ...change };
      if (jobsHref(next) === jobsHref(query())) return;
      isReplacing = isTyped && wasTyped;
      wasTyped = isTyped;
      asked = next;
      isPressed = true;
      tell();
      if (!isPushing) afterPaint(push);
      isPushing = true;
    },
    /** What the address says by now, by whatever way. */
    settle(said: JobSearchQuery, its: JobsLinks): void {
      here = { query: asked && jobsHref(asked) === jobsHref(said) ? asked : said, links: its };
      if (!isPushing) asked = undefined;
      tell();
    },
    /** Rows of this list stand on the page, or why there are none. Whoever pressed for them begins at the first. */
    arrive(shown: JobSearchQuery): void {
      const href = jobsHref(shown);
      if (href === arrived) return;
      arrived = href;
      if (isPressed && href === jobsHref(query())) {
        isPressed = false;
        window.scrollTo({ top: 0 });
      }
      tell();
    },
  };
}
