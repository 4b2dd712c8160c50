import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

/** Jobs that are being cancelled, stopped or removed, keyed by the component that started the action. Empty on the server. */
const store = createStore<ReadonlyMap<object, readonly string[]>>(() => new Map());

/** Marks these jobs as busy, so that no other component repeats the action or reports it. */
export function useMarkBusy(ids: readonly string[]): void {
  const [source] = useState(() => ({}));
  const joinedIds = ids.join("\n");
  useEffect(() => {
    if (joinedIds === "") return;
    store.setState((current) => new Map(current).set(source, joinedIds.split("\n")), true);
    return () => store.setState((current) => new Map([...current].filter(([other]) => other !== source)), true);
  }, [joinedIds, source]);
}

/** The ids of all busy jobs. */
export function useBusyJobs(): ReadonlySet<string> {
  const idsBySource = useStore(store);
  return useMemo(() => collectIds(idsBySource), [idsBySource]);
}

/** Collects the jobs that are busy now or become busy before `stop` is called. */
export function watchBusyJobs(): { ids: ReadonlySet<string>; stop: () => void } {
  const ids = new Set(collectIds(store.getState()));
  const stop = store.subscribe((idsBySource) => {
    for (const id of collectIds(idsBySource)) ids.add(id);
  });
  return { ids, stop };
}

function collectIds(idsBySource: ReadonlyMap<object, readonly string[]>): ReadonlySet<string> {
  return new Set([...idsBySource.values()].flat());
}
