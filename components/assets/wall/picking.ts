// Choosing by place in a list that is mostly not in memory: one by one, as a range, as a band, and all but one.
// Guarantees: a range or a band reaches what was not read yet, up to a bound that is told; the later of two readings counts, and the other
// is given up; what was let go of or taken out while it was read does not come back.

import { type SelectionStore } from "@/components/data-table/selection/selection-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type AssetsSource } from "./assets-source";

/** What one drag or one range may reach, loaded or not. */
const MOST_IN_RANGE = 10_000;

/** Fewer are chosen than were meant: more than a range reaches, refused by the service, or not on this page. */
export type Short = { why: "bound" | "unread" | "page"; count: number; meant: number };
type Told = { onReading: (isReading: boolean) => void; onShort: (short: Short) => void };

export type Picker = ReturnType<typeof createPicker>;

export function createPicker(store: SelectionStore, { onReading, onShort }: Told) {
  let source: AssetsSource | undefined;
  const known = new Map<string, AssetView>();
  let anchor: number | undefined;
  /** What is chosen beside the last range, as long as nothing has been chosen since. */
  let beside: ReadonlySet<string> = new Set();
  let written: ReadonlySet<string> | undefined;
  let reading: AbortController | undefined;
  /** What was chosen or taken out by hand while something is read; it counts more than what comes. */
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
  /** `take` is left out where something else counts by then. */
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

  // Whoever lets go of everything, wherever they press, does not get it back.
  store.subscribe(() => {
    if (store.ids().size === 0 && !store.isMatching()) stop();
  });

  return {
    /** The list as it is. */
    follow: (next: AssetsSource) => void (source = next),
    /** Adds or removes one; removed from "all that match", it leaves all others selected. */
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
    /** Everything from the last one chosen to this one, in place of the range before; what was not read yet is read. */
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
    /** A rubber band while it is drawn: these, as far as they are at hand, beside what was chosen when it began. */
    band(indices: readonly number[], before: ReadonlySet<string>): void {
      anchor = indices[0] ?? anchor;
      stop();
      write(
        before,
        indices.flatMap((index) => source?.at(index) ?? []),
      );
    },
    /** The band is let go: what flew past unread is read. */
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
    /** All that match, on whatever page. */
    all(): void {
      stop();
      store.list(source?.rows().map(({ id }) => id) ?? []);
      store.chooseMatching();
    },
    /** What is known of the chosen assets, also of those that scrolled far away. */
    chosen(): AssetView[] {
      know(source?.rows() ?? []);
      return [...store.ids()].flatMap((id) => known.get(id) ?? []);
    },
    /** Other filters make another list. */
    letGo(): void {
      stop();
      store.clear();
      known.clear();
      anchor = undefined;
    },
  };
}
