"use client";

import { useState } from "react";
import { useBulkWork } from "@/components/data-table/use-bulk-work";
import { type AssetView } from "@/lib/contract/asset-view";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetAct, type Entry, type Meant, reverseOf, runAct } from "./asset-acts";
import { walkAssets } from "./walk-assets";

/** Named assets, or everything that a query matches. */
export type Selected = { kind: "named"; assets: readonly AssetView[] } | { kind: "matching"; query: AssetsQuery; total: number };
export type Asked = { act: AssetAct; selected: Selected };

/** So many deletions can still leave together with a page that goes away. */
const MOST_HELD = 100;

type Choices = {
  connection: string | undefined;
  onDone: (act: AssetAct, entries: readonly Entry[]) => void;
  onLeft: (entries: readonly Entry[]) => void;
};

/** Deleting named assets is held for five seconds; what reaches further than that is asked for by its number. */
export function useAssetBulk(choices: Choices) {
  const [asked, setAsked] = useState<Asked>();
  const work = useBulkWork<AssetAct, Meant, AssetsQuery, Entry>({
    ...choices,
    carryOut: ({ act, items }, outside) => runAct(act, items, outside),
    walk: walkAssets,
  });
  function carryOut({ act, selected }: Asked): void {
    if (selected.kind === "named") void work.run({ act, items: selected.assets });
    else void work.runAll(act, selected.query);
  }

  return {
    ...work,
    asked,
    /** What would take back what was done. */
    reverse: work.phase.kind === "done" ? reverseOf(work.phase.act, work.phase.entries) : undefined,
    start: (act: AssetAct, selected: Selected) => {
      const isFar = selected.kind === "matching" || (act.kind === "delete" && selected.assets.length > MOST_HELD);
      if (isFar) setAsked({ act, selected });
      else if (act.kind === "delete") work.hold({ act, items: selected.assets });
      else carryOut({ act, selected });
    },
    confirm: () => {
      setAsked(undefined);
      if (asked) carryOut(asked);
    },
    leave: () => setAsked(undefined),
  };
}
