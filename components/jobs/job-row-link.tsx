"use client";

import Link from "next/link";
import { type MouseEvent, type ReactNode } from "react";
import { apiPath, withQuery } from "@/lib/browser/urls";

type RowLinkProps = {
  id: string;
  /** `?connection=` of the page's own address. */
  linked: string | undefined;
  /** Opens the job beside the list; false where there is no room for that. */
  onOpen: (id: string) => boolean;
};

const hrefOf = ({ id, linked }: Pick<RowLinkProps, "id" | "linked">) =>
  withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked });
const isPlain = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

/** The link covers its whole row: a press opens the job beside the list, any other kind of press its page. */
export function RowLink({ id, linked, onOpen }: RowLinkProps) {
  return (
    <Link
      href={hrefOf({ id, linked })}
      prefetch={false}
      title={id}
      onClick={(event) => {
        if (isPlain(event) && onOpen(id)) event.preventDefault();
      }}
      className="row-link"
    >
      {id.slice(0, 8)}
    </Link>
  );
}

/** What has a tooltip of its own lies above the row's link, and does what that does. */
export function RowPart({ id, linked, title, className, children }: Omit<RowLinkProps, "onOpen"> & PartProps) {
  return (
    <a
      href={apiPath(hrefOf({ id, linked }))}
      tabIndex={-1}
      title={title}
      onClick={(event) => {
        const link = event.currentTarget.closest("tr")?.querySelector<HTMLElement>(".row-link");
        if (!isPlain(event) || !link) return;
        event.preventDefault();
        link.click();
      }}
      className={className}
    >
      {children}
    </a>
  );
}
type PartProps = { title?: string; className?: string; children: ReactNode };
