import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import { createSelection, type SelectionStore } from "@/components/data-table/selection/selection";
import { showToast } from "@/components/ui/toast-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetsSource } from "./chunk-store";

export type Picking = Omit<Picker, "follow" | "release"> & { store: SelectionStore; isReading: boolean };

/** Clears the selection when the filters change. */
export function usePicking(source: AssetsSource, question: string): Picking {
  const t = useTranslations("assets.bulk");
  const [store] = useState(createSelection);
  const [isReading, setReading] = useState(false);
  const [short, setShort] = useState<Short>();
  const [picker] = useState(() => createPicker(store, { onReading: setReading, onShort: setShort }));
  const showShortage = useEffectEvent(({ why, count, requestedCount }: Short) =>
    showToast({ tone: "wait", text: t(`short.${why}`, { count, requested: requestedCount }) }),
  );
  useEffect(() => {
    if (short) showShortage(short);
  }, [short]);
  useEffect(() => picker.follow(source), [picker, source]);
  useEffect(() => picker.release, [question, picker]);
  return useMemo(() => ({ ...picker, store, isReading }), [picker, store, isReading]);
}

// Selects by index in a list that is mostly not loaded: single rows, ranges, bands, all but some. A newer read aborts an older one, and rows
// deselected during a read stay deselected.

/** The most rows in one drag or one range, loaded or not. */
const MAX_IN_RANGE = 10_000;

/** Fewer are selected than requested: beyond the limit of a range, refused by the service, or not on this page. */
type Short = { why: "bound" | "unread" | "page"; count: number; requestedCount: number };
type Reports = { onReading: (isReading: boolean) => void; onShort: (short: Short) => void };

/** From one index up to the other, exclusive; `requestedCount`: the size before any limit. */
type Range = { from: number; to: number; requestedCount: number };
/** `manual`: individually changed assets, which override what is read. */
type Reading = { abort: AbortController; manual: Map<string, boolean> };

type Picker = ReturnType<typeof createPicker>;

function createPicker(store: SelectionStore, { onReading, onShort }: Reports) {
  let source: AssetsSource | undefined;
  const assetsById = new Map<string, AssetView>();
  /** Where a range begins: the index that was selected last. */
  let anchor: number | undefined;
  /** The last range while nothing else is selected. The next range replaces it, but not its `baseSelection`. */
  let last: { selected: ReadonlySet<string>; baseSelection: ReadonlySet<string> } | undefined;
  let reading: Reading | undefined;

  function know(assets: readonly AssetView[]) {
    for (const asset of assets) assetsById.set(asset.id, asset);
  }
  function select(assets: readonly AssetView[], baseSelection: ReadonlySet<string>) {
    know(assets);
    const next = new Set([...baseSelection, ...assets.map(({ id }) => id)]);
    const manual = reading?.manual ?? new Map<string, boolean>();
    for (const [id, isOn] of manual) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    store.replace(next);
    last = { selected: store.ids(), baseSelection: manual.size > 0 ? next : baseSelection };
  }
  function stop() {
    if (!reading) return;
    reading.abort.abort();
    reading = undefined;
    onReading(false);
  }
  /** `take` is not called if another read has replaced this one. */
  async function read({ from, to, requestedCount }: Range, take: (assets: readonly AssetView[]) => void): Promise<void> {
    stop();
    const abort = new AbortController();
    reading = { abort, manual: new Map() };
    onReading(true);
    const assets = (await source?.range(from, to, abort.signal)) ?? [];
    if (abort.signal.aborted) return;
    const count = assets.length;
    if (count < requestedCount)
      onShort({ why: count < to - from ? "unread" : count === MAX_IN_RANGE ? "bound" : "page", count, requestedCount });
    take(assets);
    stop();
  }

  // Clearing the selection, anywhere on the page, cancels the read that would restore it.
  store.subscribe(() => {
    if (store.ids().size === 0 && !store.isMatching()) stop();
  });

  return {
    /** Sets the current list. */
    follow: (next: AssetsSource) => void (source = next),
    /** Toggles one asset; removing it from "all matching" keeps the others. */
    toggle(index: number): void {
      const asset = source?.at(index);
      if (!source || !asset) return;
      anchor = index;
      know([asset]);
      const isOn = !store.has(asset.id);
      if (store.isMatching() && !reading) {
        const all = { from: 0, to: Math.min(source.count, MAX_IN_RANGE), requestedCount: Math.max(source.count, source.total ?? 0) };
        void read(all, (assets) => select(assets, new Set()));
      }
      reading?.manual.set(asset.id, isOn);
      if (store.isMatching()) store.leaveOut([...(reading?.manual ?? [])].flatMap(([id, isChosen]) => (isChosen ? [] : id)));
      else store.select(asset.id, isOn);
    },
    /** Selects everything from the last selected one to this one, replacing the last range; missing rows are read. */
    async extend(index: number): Promise<void> {
      if (!source || store.isMatching()) return;
      if (anchor === undefined || store.ids().size === 0) {
        anchor = index;
        const asset = source.at(index);
        stop();
        return asset && select([asset], new Set());
      }
      const selected = store.ids();
      const baseSelection = last?.selected === selected ? last.baseSelection : selected;
      await read(rangeBetween(anchor, index), (assets) => select(assets, baseSelection));
    },
    /** While a rubber band is drawn: selects the loaded rows under it, besides what was selected when it began. */
    band(indices: readonly number[], before: ReadonlySet<string>): void {
      anchor = indices[0] ?? anchor;
      stop();
      const loaded = indices.flatMap((index) => source?.at(index) ?? []);
      select(loaded, before);
    },
    /** When the band is released: reads the rows under it that were not loaded. */
    async settle(indices: readonly number[], before: ReadonlySet<string>): Promise<void> {
      const [first, end] = [indices[0], indices.at(-1)];
      if (first === undefined || end === undefined || indices.every((index) => source?.at(index))) return;
      anchor = first;
      // Assets outside the band in its rows are read but not selected.
      await read(rangeBetween(first, end), (assets) => {
        const under = indices.flatMap((index) => assets[index - first] ?? []);
        select(under, before);
      });
    },
    /** Selects all that match, on all pages. */
    all(): void {
      stop();
      store.list(source?.rows().map(({ id }) => id) ?? []);
      store.selectMatching();
    },
    /** The known selected assets, including those far out of view. */
    chosen(): AssetView[] {
      know(source?.rows() ?? []);
      return [...store.ids()].flatMap((id) => assetsById.get(id) ?? []);
    },
    /** Other filters make another list, so the selection is cleared. */
    release(): void {
      stop();
      store.clear();
      assetsById.clear();
      anchor = undefined;
    },
  };
}

/** Both included, and in either direction; the limit is counted from `anchor`. */
function rangeBetween(anchor: number, index: number): Range {
  const requestedCount = Math.abs(index - anchor) + 1;
  const count = Math.min(requestedCount, MAX_IN_RANGE);
  const from = index < anchor ? anchor + 1 - count : anchor;
  return { from, to: from + count, requestedCount };
}
