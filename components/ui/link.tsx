"use client";

import { type VariantProps } from "class-variance-authority";
import NextLink from "next/link";
import { usePathname as useFullPathname, useRouter as useNextRouter } from "next/navigation";
import { type ComponentProps, type ReactNode, useMemo, useState } from "react";
import { addEmbedPath, getEmbedPath, parseEmbedPath } from "@/lib/shared/console-paths";
import { cn } from "./cn";
import { buttonStyle } from "./controls/button";

type LinkProps = Omit<ComponentProps<typeof NextLink>, "prefetch"> & {
  /** Disables prefetching, for lists of links, or links that only change the current page. */
  prefetch?: false;
};

/** Prefetches the target page only when the link is hovered or focused. */
export function Link({ href, prefetch, onPointerEnter, onFocus, ...props }: LinkProps) {
  const [shouldPrefetch, setShouldPrefetch] = useState(false);
  return (
    <NextLink
      {...props}
      href={typeof href === "string" ? addEmbedPath(href) : href}
      prefetch={shouldPrefetch && prefetch !== false ? null : false}
      onPointerEnter={(event) => {
        setShouldPrefetch(true);
        onPointerEnter?.(event);
      }}
      onFocus={(event) => {
        setShouldPrefetch(true);
        onFocus?.(event);
      }}
    />
  );
}

/** A link that looks like a button. */
export function ButtonLink({ tone, size, className, ...linkProps }: LinkProps & VariantProps<typeof buttonStyle>) {
  return <Link {...linkProps} className={cn(buttonStyle({ tone, size }), className)} />;
}

export function DisabledLink({ reason, className, children }: { reason: string; className?: string; children: ReactNode }) {
  return (
    <span role="link" aria-disabled="true" tabIndex={0} title={reason} className={className}>
      {children}
    </span>
  );
}

/** Next's router. On embedded pages, it adds the session's path to URLs. */
export function useRouter(): ReturnType<typeof useNextRouter> {
  const router = useNextRouter();
  return useMemo(
    () =>
      getEmbedPath() === ""
        ? router
        : {
            ...router,
            push: (href, options) => router.push(addEmbedPath(href), options),
            replace: (href, options) => router.replace(addEmbedPath(href), options),
            prefetch: (href, options) => router.prefetch(addEmbedPath(href), options),
          },
    [router],
  );
}

export function usePathname(): string {
  const fullPathname = useFullPathname();
  const embedPath = parseEmbedPath(fullPathname ?? "");
  return embedPath ? embedPath.innerUrl || "/" : fullPathname;
}
