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
  /** False if there is no space for a panel, or if the id can't be part of a URL. */
  open: (id: string) => boolean;
  close: () => void;
  /** Reads the address again, which may have changed in other ways. */
  settle: () => void;
};

function createOpenPanel(name: string, first: string | undefined): OpenPanel {
  const storeApi = createStore(() => first);
  const become = (id: string | undefined) => storeApi.setState(id, true);
  const readParam = () => new URL(window.location.href).searchParams.get(name) ?? undefined;
  return {
    subscribe: storeApi.subscribe,
    get: storeApi.getState,
    has: (id) => id === storeApi.getState(),
    open(id) {
      if (!isAddressableId(id) || !window.matchMedia(MIN_PANEL_WIDTH).matches) return false;
      become(id);
      window.history[readParam() === undefined ? "pushState" : "replaceState"](null, "", setSearchParam(name, id));
      return true;
    },
    close() {
      become(undefined);
      window.history.pushState(null, "", setSearchParam(name, undefined));
    },
    settle: () => become(readParam()),
  };
}

/** Opens the item named by parameter `name` in the panel, or its page on a narrow screen. Makes no request. */
export function useOpenPanel(name: string, pageOf: (id: string) => `/${string}`): OpenPanel {
  const router = useRouter();
  const id = useSearchParams()?.get(name) ?? undefined;
  const [panel] = useState(() => createOpenPanel(name, id));
  useEffect(() => panel.settle(), [panel, id]);
  useEffect(() => {
    // A link from a wide screen opens the item's page on a narrow one.
    if (id !== undefined && !window.matchMedia(MIN_PANEL_WIDTH).matches) router.replace(pageOf(id));
  }, [id, pageOf, router]);
  return panel;
}

export function useOpenPanelId(openPanel: OpenPanel): string | undefined {
  return useSyncExternalStore(openPanel.subscribe, openPanel.get, openPanel.get);
}
