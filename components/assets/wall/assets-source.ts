import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/views/asset-view";

/** What a wall shows, whether it is one page of a list or the whole of it. */
export type AssetsSource = {
  /** Grows with every change of what is held. */
  version: number;
  count: number;
  /** Of the whole list; undefined where the service does not say. */
  total: number | undefined;
  at: (index: number) => AssetView | undefined;
  indexOf: (id: string) => number;
  /** What is held, in order. */
  rows: () => AssetView[];
  /** These, read where they are not held; fewer where the service refuses. */
  range: (from: number, to: number, signal: AbortSignal) => Promise<AssetView[]>;
  /** These have stayed in view for a moment. */
  want: (from: number, to: number) => void;
  /** New ones wait above. */
  newCount: number;
  /** Why something is not there. */
  failure: ApiFailure | undefined;
  /** Rows at the top of the list, or on the page, that the service sent in an unknown shape. */
  unreadable?: number;
  atMs: number | undefined;
  everyMs: number;
  /** After an act that changed the list. */
  refresh: () => void;
  /** One asset has changed, and stays where it is. */
  patch: (id: string, change: (asset: AssetView) => AssetView) => void;
  /** Where the first one is in the whole list. */
  offset: number;
  /** Nothing was read yet. */
  isEmpty: boolean;
};
