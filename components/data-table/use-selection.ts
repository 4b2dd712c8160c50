"use client";

import { useState } from "react";

/** Chosen rows by id; what has left the list is no longer chosen. */
export function useSelection(listed: readonly string[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const present = listed.filter((id) => chosen.has(id));
  const ids: ReadonlySet<string> = new Set(present);
  return {
    ids,
    select: (id: string, isOn: boolean) => {
      const next = new Set(present);
      if (isOn) next.add(id);
      else next.delete(id);
      setChosen(next);
    },
    selectAll: (these: readonly string[]) => setChosen(new Set(these)),
    clear: () => setChosen(new Set()),
  };
}
