import { useState } from "react";
import { useBulkWork } from "@/components/data-table/bulk/use-bulk-work";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetAct, type Entry, type Meant, runAct } from "./asset-acts";
import { walkAssets } from "./walk-assets";

/** Listed assets, or everything that matches a query. `seen`: the loaded ones. */
export type Selected =
  { kind: "named"; assets: readonly AssetView[] } | { kind: "matching"; query: AssetsQuery; total: number; seen: readonly AssetView[] };
export type Asked = { act: AssetAct; selected: Selected };

/** Among so few, users notice a wrong tile while the deletion can be undone. */
const MAX_UNCONFIRMED = 5;

type Choices = {
  connection: string | undefined;
  onDone: (act: AssetAct, entries: readonly Entry[]) => void;
  onLeft: (entries: readonly Entry[]) => void;
  /** An act on the selection is in progress. */
  onBegun: () => void;
  /** The act was undone in time. */
  onBack: (assets: readonly Meant[]) => void;
};

/** Deleting a few listed assets can be undone for five seconds. Larger actions require confirmation. */
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
      const isFar = selected.kind === "matching" || (act.kind === "delete" && selected.assets.length > MAX_UNCONFIRMED);
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
