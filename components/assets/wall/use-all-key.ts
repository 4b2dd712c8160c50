import { type RefObject } from "react";
import { useAllKey } from "@/components/data-table/selection/use-selection";
import { type AssetsSource } from "./assets-source";
import { type Picking } from "./use-picking";

type AllTilesKey = {
  source: Pick<AssetsSource, "at">;
  picking: Pick<Picking, "store" | "band" | "all">;
  inView: () => number[];
  list: RefObject<HTMLElement | null>;
};

/** Ctrl A or ⌘ A selects what is in view; pressed again, all that match. */
export function useAllTilesKey({ source, picking, inView, list }: AllTilesKey): void {
  useAllKey(
    () => picking.store.ids().size > 0 || list.current?.contains(document.activeElement) === true,
    () => {
      const shown = inView();
      if (shown.every((index) => picking.store.has(source.at(index)?.id ?? ""))) picking.all();
      else picking.band(shown, picking.store.ids());
    },
  );
}
