import dynamic from "next/dynamic";
import { useMemo, useState } from "react";
import { useChosen } from "@/components/data-table/selection/select-cells";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetAct, type Entry } from "./bulk/asset-acts";
import { useAssetRights } from "./use-asset-rights";
import { type Picking } from "./wall/use-picking";

const BulkBar = dynamic(() => import("./bulk/bulk-bar").then((module) => module.BulkBar), { ssr: false });

type AssetsSelectedProps = {
  picking: Picking;
  query: AssetsQuery;
  total: number | undefined;
  connectionId?: string;
  connection?: string;
  canChange: boolean;
  onDone: (act: AssetAct, entries: readonly Entry[]) => void;
  onCompare: (ids: readonly string[]) => void;
};

/** Mounted with the first selection; it then stays mounted, as it shows the receipt of what was done. */
export function AssetsSelected(props: AssetsSelectedProps) {
  const { store } = props.picking;
  const isAny = useChosen(store, () => store.ids().size > 0);
  const [wasAny, setWasAny] = useState(false);
  if (isAny && !wasAny) setWasAny(true);
  return wasAny ? <Selected {...props} /> : null;
}

/** The selection: a list of assets, or all that match. */
function Selected({ picking, query, total, connectionId, connection, canChange, onDone, onCompare }: AssetsSelectedProps) {
  const rights = useAssetRights(connectionId, canChange);
  const { store, chosen } = picking;
  const ids = useChosen(store, store.ids);
  const isMatching = useChosen(store, store.isMatching);
  const selected = useMemo(
    () =>
      isMatching
        ? { kind: "matching" as const, query, total: total ?? ids.size, seen: chosen() }
        : { kind: "named" as const, assets: ids.size > 0 ? chosen() : [] },
    [isMatching, ids, query, total, chosen],
  );
  const isMore = total !== undefined && total > ids.size;
  return (
    <BulkBar
      selected={selected}
      connectionId={connectionId}
      connection={connection}
      rights={rights}
      onDone={onDone}
      onCompare={onCompare}
      onClear={store.clear}
      onBack={store.add}
      isReading={picking.isReading}
      total={total}
      onAll={isMore && !isMatching ? picking.all : undefined}
    />
  );
}
