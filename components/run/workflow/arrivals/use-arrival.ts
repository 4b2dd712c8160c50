import { useEffect, useEffectEvent } from "react";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Arrival } from "./arrivals";

const names = ["job", "file", "carrier", "sample", "app", "asset", "assets", "without"] as const;

/** Opens once what the address names; the address then becomes /run, so that a reload restores what was typed and not the job again. */
export function useArrival(arrival: Arrival | undefined, open: (arrival: Arrival) => void): void {
  const arrived = useEffectEvent(() => {
    const search = new URLSearchParams(window.location.search);
    if (!arrival || !names.some((name) => search.has(name))) return;
    for (const name of names) search.delete(name);
    // A connection in the address is kept: what was opened from it runs there.
    const { pathname, hash } = window.location;
    window.history.replaceState(null, "", `${pathname}${search.size === 0 ? "" : `?${search}`}${hash}`);
    open(arrival);
  });
  const key = writeExactJson(arrival);
  useEffect(() => arrived(), [key]);
}
