import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";

/** The assets of a wall, whether one page of a list or the whole list. */
export type AssetsSource = {
  /** Grows with every change of the loaded rows. */
  version: number;
  count: number;
  /** The length of the whole list; undefined where the service does not say. */
  total: number | undefined;
  at: (index: number) => AssetView | undefined;
  indexOf: (id: string) => number;
  /** The loaded rows, in order. */
  rows: () => AssetView[];
  /** These rows, loading those that are missing; fewer where the service refuses. */
  range: (from: number, to: number, signal: AbortSignal) => Promise<AssetView[]>;
  /** Called when these rows have stayed in view for a moment, in the wall or in the full view over it; with none when that closes. */
  want: (from: number, to: number, viewer?: "wall" | "full view") => void;
  /** New assets above, not shown yet. */
  newCount: number;
  /** Why some rows are missing. */
  failure: ApiFailure | undefined;
  /** Rows at the top of the list, or on the page, that the service sent in an unknown shape. */
  unreadable?: number;
  atMs: number | undefined;
  everyMs: number;
  /** To be called after an act that changed the list. */
  refresh: () => void;
  /** Changes one asset in place. */
  patch: (id: string, change: (asset: AssetView) => AssetView) => void;
  /** The index of the first row in the whole list. */
  offset: number;
  /** Nothing has been read yet. */
  isEmpty: boolean;
};
