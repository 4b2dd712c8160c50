"use client";

import NextLink from "next/link";
import { type ComponentProps, type ReactNode, useState } from "react";
import { inEmbedPath } from "@/lib/shared/console-paths";

type LinkProps = Omit<ComponentProps<typeof NextLink>, "prefetch"> & {
  /** Never prefetches: for one of many links side by side, or one that only changes the present page. */
  prefetch?: false;
};

/** The target page is prefetched when the link is pointed at or focused, and not before. */
export function Link({ href, prefetch, onPointerEnter, onFocus, ...props }: LinkProps) {
  const [isNear, setNear] = useState(false);
  return (
    <NextLink
      {...props}
      href={typeof href === "string" ? inEmbedPath(href) : href}
      prefetch={isNear && prefetch !== false ? null : false}
      onPointerEnter={(event) => {
        setNear(true);
        onPointerEnter?.(event);
      }}
      onFocus={(event) => {
        setNear(true);
        onFocus?.(event);
      }}
    />
  );
}

type DisabledLinkProps = { reason: string; className?: string; children: ReactNode };

/** Not a link, but focusable. Hovering shows the reason. */
export function DisabledLink({ reason, className, children }: DisabledLinkProps) {
  return (
    <span role="link" aria-disabled="true" tabIndex={0} title={reason} className={className}>
      {children}
    </span>
  );
}
