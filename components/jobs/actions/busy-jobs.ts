import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

/** Jobs that are being cancelled, stopped or removed, or are about to be, by the part of the page that began it. None on the server. */
const store = createStore<ReadonlyMap<object, readonly string[]>>(() => new Map());

/** So that no other part of the page begins the same once more, and tells of it a second time. */
export function useTellBusy(ids: readonly string[]): void {
  const [source] = useState(() => ({}));
  const joined = ids.join("\n");
  useEffect(() => {
    if (joined === "") return;
    store.setState((now) => new Map(now).set(source, joined.split("\n")), true);
    return () => store.setState((now) => new Map([...now].filter(([other]) => other !== source)), true);
  }, [joined, source]);
}

/** Whoever began it. */
export function useBusyJobs(): ReadonlySet<string> {
  const sources = useStore(store);
  return useMemo(() => idsOf(sources), [sources]);
}

/** What is busy now, and what becomes so until `end`. */
export function watchBusy(): { ids: ReadonlySet<string>; end: () => void } {
  const ids = new Set(idsOf(store.getState()));
  const end = store.subscribe((sources) => {
    for (const id of idsOf(sources)) ids.add(id);
  });
  return { ids, end };
}

function idsOf(sources: ReadonlyMap<object, readonly string[]>): ReadonlySet<string> {
  return new Set([...sources.values()].flat());
}
