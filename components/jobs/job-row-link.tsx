"use client";

import { useRouter } from "next/navigation";
import { type MouseEvent, type ReactNode, useCallback } from "react";
import { apiPath, withQuery } from "@/lib/browser/urls";

/** `linked`: `?connection=` of the page's own address. */
const pageOf = (id: string, linked: string | undefined) => withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked });

/** Where the links of a row lead, written out. */
export function rowHref(id: string, linked: string | undefined): string {
  return apiPath(pageOf(id, linked));
}

/** Plain links, each of which says what it opens: a thousand rows have one listener, `useRowPress`. This one covers its whole row. */
export function rowLink(id: string, href: string): ReactNode {
  return (
    <a href={href} title={id} data-opens="" className="row-link">
      {id.slice(0, 8)}
    </a>
  );
}

/** What has a tooltip of its own lies above the row's link, and does what that does. */
export function rowPart(href: string, children: ReactNode, className: string, title?: string): ReactNode {
  return (
    <a href={href} tabIndex={-1} title={title} data-opens="" className={className}>
      {children}
    </a>
  );
}

const isPlain = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** A press opens the job beside the list, where `onOpen` says that there is room, else its page; any other kind of press is the browser's. */
export function useRowPress(linked: string | undefined, onOpen: (id: string) => boolean): (event: MouseEvent<HTMLElement>) => void {
  const router = useRouter();
  return useCallback(
    (event) => {
      const link = event.target instanceof Element ? event.target.closest("a[data-opens]") : null;
      const id = link?.closest("tr")?.dataset.row;
      if (id === undefined || event.defaultPrevented || !isPlain(event)) return;
      event.preventDefault();
      if (!onOpen(id)) router.push(pageOf(id, linked));
    },
    [router, linked, onOpen],
  );
}
