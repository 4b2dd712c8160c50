import { useEffect, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

/** Jobs on which an act is about to begin or under way, by the part of the page that began it. None on the server. */
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
  const [known, setKnown] = useState({ sources, ids: idsOf(sources) });
  if (known.sources === sources) return known.ids;
  const ids = idsOf(sources);
  setKnown({ sources, ids });
  return ids;
}

function idsOf(sources: ReadonlyMap<object, readonly string[]>): ReadonlySet<string> {
  return new Set([...sources.values()].flat());
}
