import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

/** Jobs that are being or about to be cancelled, stopped or removed, by the part of the page that began it. Empty on the server. */
const store = createStore<ReadonlyMap<object, readonly string[]>>(() => new Map());

/** Marks these jobs as busy, so that no other part of the page repeats the action or its report. */
export function useTellBusy(ids: readonly string[]): void {
  const [source] = useState(() => ({}));
  const joinedIds = ids.join("\n");
  useEffect(() => {
    if (joinedIds === "") return;
    store.setState((now) => new Map(now).set(source, joinedIds.split("\n")), true);
    return () => store.setState((now) => new Map([...now].filter(([other]) => other !== source)), true);
  }, [joinedIds, source]);
}

/** The busy jobs of all parts of the page. */
export function useBusyJobs(): ReadonlySet<string> {
  const sources = useStore(store);
  return useMemo(() => idsOf(sources), [sources]);
}

/** Collects the jobs that are busy now or become busy until `end`. */
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
