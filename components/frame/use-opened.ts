"use client";

import { useRouter, useSearchParams } from "next/navigation";
import { useCallback, useEffect } from "react";

/** From here on a panel has room beside the list. */
const WIDE = "(min-width: 1024px)";

/** The page's address with one of its parameters changed or taken away. */
function addressWith(name: string, value: string | undefined): string {
  const address = new URL(window.location.href);
  if (value === undefined) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  return address.pathname + address.search;
}

/** What the parameter `name` names, open beside the list; on a narrow screen its own page. The list stays as it is: nothing is asked of the server. */
export function useOpened(name: string, pageOf: (id: string) => `/${string}`) {
  const router = useRouter();
  const id = useSearchParams()?.get(name) ?? undefined;
  useEffect(() => {
    // A link made on a wide screen still leads to the thing on a narrow one.
    if (id !== undefined && !window.matchMedia(WIDE).matches) router.replace(pageOf(id));
  }, [id, pageOf, router]);
  const open = useCallback(
    (wanted: string) => {
      if (!window.matchMedia(WIDE).matches) return false;
      const isOpen = new URL(window.location.href).searchParams.has(name);
      window.history[isOpen ? "replaceState" : "pushState"](null, "", addressWith(name, wanted));
      return true;
    },
    [name],
  );
  const close = useCallback(() => window.history.pushState(null, "", addressWith(name, undefined)), [name]);
  return { id, open, close };
}
