// Choosing by place in a list that is mostly not in memory: one by one, as a range, as a band, and all but one.
// Guarantees: a range or a band reaches what was not read yet, up to a bound that is told; the later of two readings counts; what was let
// go of while it was read does not come back.

import { type SelectionStore } from "@/components/data-table/selection-store";
import { type AssetView } from "@/lib/contract/asset-view";
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
  /** What is chosen beside the last range, as long as nobody has chosen anything since. */
  let beside: ReadonlySet<string> = new Set();
  let written: ReadonlySet<string> | undefined;
  let turn = 0;

  function know(assets: readonly AssetView[]) {
    for (const asset of assets) known.set(asset.id, asset);
  }
  function write(before: ReadonlySet<string>, assets: readonly AssetView[]) {
    know(assets);
    beside = before;
    store.replace([...before, ...assets.map(({ id }) => id)]);
    written = store.ids();
  }
  /** Undefined where it does not count any more. */
  async function read(from: number, to: number, meant: number): Promise<AssetView[] | undefined> {
    turn += 1;
    const mine = turn;
    const wasAny = store.ids().size > 0;
    onReading(true);
    const assets = (await source?.range(from, to)) ?? [];
    if (mine !== turn) return undefined;
    onReading(false);
    if (wasAny && store.ids().size === 0) return undefined;
    const count = assets.length;
    if (count < meant) onShort({ why: count < to - from ? "unread" : count === MOST_IN_RANGE ? "bound" : "page", count, meant });
    return assets;
  }

  return {
    /** The list as it stands. */
    follow: (next: AssetsSource) => void (source = next),
    /** One more, or one less; one less than all that match leaves all others. */
    toggle(index: number): void {
      const asset = source?.at(index);
      if (!source || !asset) return;
      anchor = index;
      know([asset]);
      if (!store.isMatching()) return store.choose(asset.id, !store.has(asset.id));
      const to = Math.min(source.count, MOST_IN_RANGE);
      void read(0, to, Math.max(source.count, source.total ?? 0)).then((assets) => {
        if (assets)
          write(
            new Set(),
            assets.filter(({ id }) => id !== asset.id),
          );
      });
    },
    /** Everything from the last one chosen to this one, in place of the range before; what was not read yet is read. */
    async extend(index: number): Promise<void> {
      if (!source || store.isMatching()) return;
      if (anchor === undefined || store.ids().size === 0) {
        anchor = index;
        const asset = source.at(index);
        return asset && write(new Set(), [asset]);
      }
      const before = store.ids();
      const kept = before === written ? beside : before;
      const from = index < anchor ? Math.max(index, anchor + 1 - MOST_IN_RANGE) : anchor;
      const to = index < anchor ? anchor + 1 : Math.min(index + 1, anchor + MOST_IN_RANGE);
      const assets = await read(from, to, Math.abs(index - anchor) + 1);
      // Whoever has chosen others meanwhile keeps them.
      if (assets) write(store.ids() === before ? kept : store.ids(), assets);
    },
    /** A rubber band while it is drawn: these, as far as they are at hand, beside what was chosen when it began. */
    band(indices: readonly number[], before: ReadonlySet<string>): void {
      anchor = indices[0] ?? anchor;
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
      const assets = await read(from, Math.min(last + 1, from + MOST_IN_RANGE), last + 1 - from);
      if (assets)
        write(
          before,
          indices.flatMap((index) => assets[index - from] ?? []),
        );
    },
    /** All that match, on whatever page. */
    all(): void {
      store.list(source?.rows().map(({ id }) => id) ?? []);
      store.chooseMatching();
    },
    /** What is known of the chosen assets, also of those that scrolled far away. */
    chosen(): AssetView[] {
      know(source?.rows() ?? []);
      return [...store.ids()].flatMap((id) => known.get(id) ?? []);
    },
    /** Another question is another list. */
    letGo(): void {
      turn += 1;
      onReading(false);
      store.clear();
      known.clear();
      anchor = undefined;
    },
  };
}
