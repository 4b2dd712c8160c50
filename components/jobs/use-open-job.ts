"use client";

import { useRouter, useSearchParams } from "next/navigation";
import { useCallback, useEffect } from "react";
import { withQuery } from "@/lib/browser/urls";

const NAME = "job";
/** From here on a panel has room beside the list. */
const WIDE = "(min-width: 1024px)";

function addressWith(id: string | undefined): string {
  const address = new URL(window.location.href);
  if (id === undefined) address.searchParams.delete(NAME);
  else address.searchParams.set(NAME, id);
  return address.pathname + address.search;
}

/** The job that `?job=` names, open beside the list. The list itself stays as it is: nothing is asked of the server. */
export function useOpenJob(linked: string | undefined) {
  const router = useRouter();
  const id = useSearchParams()?.get(NAME) ?? undefined;
  useEffect(() => {
    // A link made on a wide screen still leads to the job on a narrow one.
    if (id !== undefined && !window.matchMedia(WIDE).matches) {
      router.replace(withQuery(`/jobs/${encodeURIComponent(id)}`, { connection: linked }));
    }
  }, [id, linked, router]);
  const open = useCallback((wanted: string) => {
    if (!window.matchMedia(WIDE).matches) return false;
    const isOpen = new URL(window.location.href).searchParams.has(NAME);
    window.history[isOpen ? "replaceState" : "pushState"](null, "", addressWith(wanted));
    return true;
  }, []);
  const close = useCallback(() => window.history.pushState(null, "", addressWith(undefined)), []);
  return { id, open, close };
}
