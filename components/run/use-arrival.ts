"use client";

import { useEffect, useEffectEvent } from "react";
import { type Arrival } from "./arrivals";

/** Opens what the address names, once: the address then says /run, so that a reload brings back what was typed and not the job anew. */
export function useArrival(arrival: Arrival | undefined, open: (arrival: Arrival) => void): void {
  const arrived = useEffectEvent(() => {
    if (!arrival || new URLSearchParams(window.location.search).size === 0) return;
    window.history.replaceState(null, "", window.location.pathname);
    open(arrival);
  });
  const key = JSON.stringify(arrival);
  useEffect(() => arrived(), [key]);
}
