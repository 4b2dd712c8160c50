import { useState } from "react";
import { useBulkWork } from "@/components/data-table/bulk/use-bulk-work";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetAct, type Entry, type Meant, runAct } from "./asset-acts";
import { walkAssets } from "./walk-assets";

/** Listed assets, or everything that a query matches. */
export type Selected = { kind: "named"; assets: readonly AssetView[] } | { kind: "matching"; query: AssetsQuery; total: number };
export type Asked = { act: AssetAct; selected: Selected };

/** Up to this many deletions can still be sent when the page closes. */
const MOST_AT_CLOSE = 100;

type Choices = {
  connection: string | undefined;
  onDone: (act: AssetAct, entries: readonly Entry[]) => void;
  onLeft: (entries: readonly Entry[]) => void;
  /** An act on the selection is in progress. */
  onBegun: () => void;
  /** The act was undone in time. */
  onBack: (assets: readonly Meant[]) => void;
};

/** Deleting listed assets can be undone for five seconds; larger acts ask for confirmation with the number. */
export function useAssetBulk(choices: Choices) {
  const [asked, setAsked] = useState<Asked>();
  const work = useBulkWork<AssetAct, Meant, Entry, AssetsQuery>({
    ...choices,
    onBack: (_act, items) => choices.onBack(items),
    carryOut: ({ act, items }, outside) => runAct(act, items, outside),
    walk: walkAssets,
  });
  function carryOut({ act, selected }: Asked): void {
    work.dismissEnded();
    choices.onBegun();
    if (selected.kind === "named") void work.run({ act, items: selected.assets });
    else void work.runAll(act, selected.query);
  }

  return {
    ...work,
    asked,
    start: (act: AssetAct, selected: Selected) => {
      const isFar = selected.kind === "matching" || (act.kind === "delete" && selected.assets.length > MOST_AT_CLOSE);
      if (isFar) setAsked({ act, selected });
      else if (act.kind !== "delete") carryOut({ act, selected });
      else {
        work.dismissEnded();
        work.schedule({ act, items: selected.assets });
        choices.onBegun();
      }
    },
    confirm: () => {
      setAsked(undefined);
      if (asked) carryOut(asked);
    },
    leave: () => setAsked(undefined),
  };
}
