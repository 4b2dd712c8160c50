// Selects by index in a list that is mostly not loaded: one by one, as a range, as a band, and all but some.
// Guarantees: a range or a band includes rows that are not read yet, up to a limit that is reported; of two reads the later one counts, and
// the other is aborted; what was deselected during a read does not come back.

import { type SelectionStore } from "@/components/data-table/selection/selection-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetsSource } from "./assets-source";

/** The most rows in one drag or one range, loaded or not. */
const MOST_IN_RANGE = 10_000;

/** Fewer are selected than were meant: beyond the limit of a range, refused by the service, or not on this page. */
export type Short = { why: "bound" | "unread" | "page"; count: number; meant: number };
type Reports = { onReading: (isReading: boolean) => void; onShort: (short: Short) => void };

export type Picker = ReturnType<typeof createPicker>;

export function createPicker(store: SelectionStore, { onReading, onShort }: Reports) {
  let source: AssetsSource | undefined;
  const known = new Map<string, AssetView>();
  let anchor: number | undefined;
  /** What is selected besides the last range, until something else is selected. */
  let beside: ReadonlySet<string> = new Set();
  let written: ReadonlySet<string> | undefined;
  let reading: AbortController | undefined;
  /** Manual changes during a read; they take precedence over what is read. */
  const meanwhile = new Map<string, boolean>();

  function know(assets: readonly AssetView[]) {
    for (const asset of assets) known.set(asset.id, asset);
  }
  function write(before: ReadonlySet<string>, assets: readonly AssetView[]) {
    know(assets);
    const next = new Set([...before, ...assets.map(({ id }) => id)]);
    for (const [id, isOn] of meanwhile) {
      if (isOn) next.add(id);
      else next.delete(id);
    }
    beside = meanwhile.size > 0 ? next : before;
    store.replace(next);
    written = store.ids();
  }
  function stop() {
    if (!reading) return;
    reading.abort();
    reading = undefined;
    meanwhile.clear();
    onReading(false);
  }
  /** `take` is not called if another read has replaced this one. */
  async function read(from: number, to: number, meant: number, take: (assets: readonly AssetView[]) => void): Promise<void> {
    stop();
    const mine = new AbortController();
    reading = mine;
    onReading(true);
    const assets = (await source?.range(from, to, mine.signal)) ?? [];
    if (mine.signal.aborted) return;
    const count = assets.length;
    if (count < meant) onShort({ why: count < to - from ? "unread" : count === MOST_IN_RANGE ? "bound" : "page", count, meant });
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
    /** Adds or removes one; removing it from "all that match" leaves all others selected. */
    toggle(index: number): void {
      const asset = source?.at(index);
      if (!source || !asset) return;
      anchor = index;
      know([asset]);
      const isOn = !store.has(asset.id);
      if (store.isMatching() && !reading) {
        const to = Math.min(source.count, MOST_IN_RANGE);
        void read(0, to, Math.max(source.count, source.total ?? 0), (assets) => write(new Set(), assets));
      }
      if (reading) meanwhile.set(asset.id, isOn);
      if (store.isMatching()) store.leaveOut([...meanwhile].flatMap(([id, isChosen]) => (isChosen ? [] : id)));
      else store.choose(asset.id, isOn);
    },
    /** Selects everything from the last selected one to this one, replacing the last range; missing rows are read. */
    async extend(index: number): Promise<void> {
      if (!source || store.isMatching()) return;
      if (anchor === undefined || store.ids().size === 0) {
        anchor = index;
        const asset = source.at(index);
        stop();
        return asset && write(new Set(), [asset]);
      }
      const before = store.ids();
      const kept = before === written ? beside : before;
      const from = index < anchor ? Math.max(index, anchor + 1 - MOST_IN_RANGE) : anchor;
      const to = index < anchor ? anchor + 1 : Math.min(index + 1, anchor + MOST_IN_RANGE);
      await read(from, to, Math.abs(index - anchor) + 1, (assets) => write(kept, assets));
    },
    /** While a rubber band is drawn: selects the loaded rows under it, besides what was selected when it began. */
    band(indices: readonly number[], before: ReadonlySet<string>): void {
      anchor = indices[0] ?? anchor;
      stop();
      write(
        before,
        indices.flatMap((index) => source?.at(index) ?? []),
      );
    },
    /** When the band is released: reads the rows under it that were not loaded. */
    async settle(indices: readonly number[], before: ReadonlySet<string>): Promise<void> {
      const [from, last] = [indices[0], indices.at(-1)];
      if (from === undefined || last === undefined || indices.every((index) => source?.at(index))) return;
      anchor = from;
      await read(from, Math.min(last + 1, from + MOST_IN_RANGE), last + 1 - from, (assets) =>
        write(
          before,
          indices.flatMap((index) => assets[index - from] ?? []),
        ),
      );
    },
    /** Selects all that match, on all pages. */
    all(): void {
      stop();
      store.list(source?.rows().map(({ id }) => id) ?? []);
      store.chooseMatching();
    },
    /** What is known of the selected assets, including those far out of view. */
    chosen(): AssetView[] {
      know(source?.rows() ?? []);
      return [...store.ids()].flatMap((id) => known.get(id) ?? []);
    },
    /** Other filters make another list, so the selection is cleared. */
    letGo(): void {
      stop();
      store.clear();
      known.clear();
      anchor = undefined;
    },
  };
}
