import { useSearchParams } from "next/navigation";
import { useEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { useRouter } from "@/components/ui/hooks/use-router";

/** From here on a panel has room beside the list. */
const WIDE = "(min-width: 1024px)";

/** What is open beside a list. A store and not state of the page: a press marks its row at once, and the list is not drawn for it. */
export type Opened = {
  subscribe: (listener: () => void) => () => void;
  get: () => string | undefined;
  has: (id: string) => boolean;
  /** False where there is no room beside the list. */
  open: (id: string) => boolean;
  close: () => void;
  /** The address may have changed by other ways. */
  settle: () => void;
};

function createOpened(name: string, first: string | undefined): Opened {
  const shown = createStore(() => first);
  const become = (id: string | undefined) => shown.setState(id, true);
  const named = () => new URL(window.location.href).searchParams.get(name) ?? undefined;
  return {
    subscribe: shown.subscribe,
    get: shown.getState,
    has: (id) => id === shown.getState(),
    open(id) {
      if (!window.matchMedia(WIDE).matches) return false;
      become(id);
      window.history[named() === undefined ? "pushState" : "replaceState"](null, "", addressWith(name, id));
      return true;
    },
    close() {
      become(undefined);
      window.history.pushState(null, "", addressWith(name, undefined));
    },
    settle: () => become(named()),
  };
}

/** The page's address with one of its parameters changed or taken away. */
function addressWith(name: string, value: string | undefined): string {
  const address = new URL(window.location.href);
  if (value === undefined) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  return address.pathname + address.search;
}

/** What the parameter `name` names, open beside the list; on a narrow screen its own page. The list stays as it is: nothing is asked of the server. */
export function useOpened(name: string, pageOf: (id: string) => `/${string}`): Opened {
  const router = useRouter();
  const id = useSearchParams()?.get(name) ?? undefined;
  const [opened] = useState(() => createOpened(name, id));
  useEffect(() => opened.settle(), [opened, id]);
  useEffect(() => {
    // A link made on a wide screen still leads to the thing on a narrow one.
    if (id !== undefined && !window.matchMedia(WIDE).matches) router.replace(pageOf(id));
  }, [id, pageOf, router]);
  return opened;
}

export function useOpenedId(opened: Opened): string | undefined {
  return useSyncExternalStore(opened.subscribe, opened.get, opened.get);
}
