"use client";

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type SelectionStore, createSelection } from "@/components/data-table/selection-store";
import { type AssetView } from "@/lib/contract/asset-view";
import { type AssetsSource } from "./assets-source";

/** What one drag or one range may reach, loaded or not. */
const MOST_IN_RANGE = 10_000;

export type Picking = {
  store: SelectionStore;
  toggle: (index: number) => void;
  /** Everything from the last one chosen to this one; what was not read yet is read. */
  extend: (index: number) => Promise<void>;
  /** A rubber band: these beside what was chosen when it began. */
  band: (indices: readonly number[], before: ReadonlySet<string>) => void;
  /** What is known of the chosen assets, also of those that scrolled far away. */
  chosen: () => AssetView[];
  isReading: boolean;
};

/** Choosing by place in the list, since most of a long list is not in memory. Another question lets go of everything. */
export function usePicking(source: AssetsSource, question: string): Picking {
  const [store] = useState(createSelection);
  const known = useRef(new Map<string, AssetView>());
  const anchor = useRef<number>(undefined);
  const [isReading, setReading] = useState(false);
  const latest = useRef(source);
  useEffect(() => {
    latest.current = source;
  });
  useEffect(
    () => () => {
      store.clear();
      known.current.clear();
      anchor.current = undefined;
    },
    [question, store],
  );

  const know = useCallback((assets: readonly AssetView[]) => {
    for (const asset of assets) known.current.set(asset.id, asset);
  }, []);
  const toggle = useCallback(
    (index: number) => {
      const asset = latest.current.at(index);
      if (!asset) return;
      if (store.isMatching()) know(latest.current.rows());
      know([asset]);
      anchor.current = index;
      store.choose(asset.id, !store.has(asset.id));
    },
    [know, store],
  );
  const extend = useCallback(
    async (index: number) => {
      const from = Math.min(anchor.current ?? index, index);
      const to = Math.min(Math.max(anchor.current ?? index, index) + 1, from + MOST_IN_RANGE);
      anchor.current ??= index;
      setReading(true);
      const assets = await latest.current.range(from, to);
      setReading(false);
      know(assets);
      store.replace([...store.ids(), ...assets.map(({ id }) => id)]);
    },
    [know, store],
  );
  const band = useCallback(
    (indices: readonly number[], before: ReadonlySet<string>) => {
      const assets = indices.flatMap((index) => latest.current.at(index) ?? []);
      know(assets);
      anchor.current = indices[0] ?? anchor.current;
      store.replace([...before, ...assets.map(({ id }) => id)]);
    },
    [know, store],
  );
  const chosen = useCallback(() => {
    know(latest.current.rows());
    return [...store.ids()].flatMap((id) => known.current.get(id) ?? []);
  }, [know, store]);

  return useMemo(() => ({ store, toggle, extend, band, chosen, isReading }), [store, toggle, extend, band, chosen, isReading]);
}
