"use client";

import NextLink from "next/link";
import { type ComponentProps, useState } from "react";
import { inPlace } from "@/lib/shared/place";

type LinkProps = Omit<ComponentProps<typeof NextLink>, "prefetch"> & {
  /** Not even then: one of many beside each other, or one that only changes what this page shows. */
  prefetch?: false;
};

/** The page behind it is fetched when a person points at it or comes to it by keys, and not before. */
export function Link({ href, prefetch, onPointerEnter, onFocus, ...props }: LinkProps) {
  const [isNear, setNear] = useState(false);
  return (
    <NextLink
      {...props}
      href={typeof href === "string" ? inPlace(href) : href}
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
