import { useSearchParams } from "next/navigation";
import { useEffect, useState, useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { useRouter } from "@/components/ui/link";
import { setSearchParam } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";

/** Minimum width for a panel next to the list. */
const MIN_PANEL_WIDTH = "(min-width: 1024px)";

/** The item open in the panel. A store instead of React state, so that a click marks its row without rendering the list. */
export type OpenPanel = {
  subscribe: (listener: () => void) => () => void;
  get: () => string | undefined;
  has: (id: string) => boolean;
  /** Returns false if there is no space for a panel, or if the id can't be part of a URL. */
  open: (id: string) => boolean;
  close: () => void;
  /** Reads the URL again, which may have changed otherwise. */
  settle: () => void;
};

function createOpenPanel(name: string, first: string | undefined): OpenPanel {
  const storeApi = createStore(() => first);
  const setOpenId = (id: string | undefined) => storeApi.setState(id, true);
  const readParam = () => new URL(window.location.href).searchParams.get(name) ?? undefined;
  return {
    subscribe: storeApi.subscribe,
    get: storeApi.getState,
    has: (id) => id === storeApi.getState(),
    open(id) {
      if (!isAddressableId(id) || !window.matchMedia(MIN_PANEL_WIDTH).matches) return false;
      setOpenId(id);
      window.history[readParam() === undefined ? "pushState" : "replaceState"](null, "", setSearchParam(name, id));
      return true;
    },
    close() {
      setOpenId(undefined);
      window.history.pushState(null, "", setSearchParam(name, undefined));
    },
    settle: () => setOpenId(readParam()),
  };
}

/** Opens the item in the URL parameter `name` in the panel, or its page on narrow screens. Makes no request. */
export function useOpenPanel(name: string, getPageHref: (id: string) => `/${string}`): OpenPanel {
  const router = useRouter();
  const id = useSearchParams()?.get(name) ?? undefined;
  const [panel] = useState(() => createOpenPanel(name, id));
  useEffect(() => panel.settle(), [panel, id]);
  useEffect(() => {
    // A link from a wide screen opens the item's page on a narrow one.
    if (id !== undefined && !window.matchMedia(MIN_PANEL_WIDTH).matches) router.replace(getPageHref(id));
  }, [id, getPageHref, router]);
  return panel;
}

export function useOpenPanelId(openPanel: OpenPanel): string | undefined {
  return useSyncExternalStore(openPanel.subscribe, openPanel.get, openPanel.get);
}
