"use client";

import NextLink from "next/link";
import { type ComponentProps, useState } from "react";

type LinkProps = Omit<ComponentProps<typeof NextLink>, "prefetch"> & {
  /** Not even then: one of many beside each other, or one that only changes what this page shows. */
  prefetch?: false;
};

/** The page behind it is fetched when a person points at it or comes to it by keys, and not before. */
export function Link({ prefetch, onPointerEnter, onFocus, ...props }: LinkProps) {
  const [isNear, setNear] = useState(false);
  return (
    <NextLink
      {...props}
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
