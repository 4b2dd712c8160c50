"use client";

import { useState, useSyncExternalStore } from "react";
import { type AssetView } from "@/lib/contract/asset-view";
import { holdBack } from "./asset-page";

const TOP_PX = 40;

function subscribe(listener: () => void): () => void {
  window.addEventListener("scroll", listener, { passive: true });
  return () => window.removeEventListener("scroll", listener);
}

/** At the top of the newest page new pictures simply appear; further down they are held back, so that nothing jumps. `view` names the question. */
export function useHeldAssets(view: string, latest: AssetView[], canHold: boolean): { assets: AssetView[]; waiting: number } {
  const isAtTop = useSyncExternalStore(
    subscribe,
    () => window.scrollY < TOP_PX,
    () => true,
  );
  const [shown, setShown] = useState({ view, assets: latest });
  const isHolding = canHold && !isAtTop && shown.view === view && shown.assets.length > 0;
  if (!isHolding && (shown.assets !== latest || shown.view !== view)) setShown({ view, assets: latest });
  return isHolding ? holdBack(shown.assets, latest) : { assets: latest, waiting: 0 };
}
