import { type MouseEvent } from "react";
import { type AssetsSource } from "./assets-source";
import { type Picking } from "./use-picking";

type TileClicks = {
  source: AssetsSource;
  picking: Picking;
  onOpen: (id: string) => boolean;
  onPage: (id: string) => void;
};

/** A press opens beside the wall, two open the page; while some are chosen a press chooses, and with shift it always does. Other presses are the browser's. */
export function useTileClicks({ source, picking, onOpen, onPage }: TileClicks) {
  return {
    onClick(event: MouseEvent<HTMLElement>) {
      const index = tileOf(event);
      const asset = index === undefined ? undefined : source.at(index);
      if (index === undefined || !asset || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      if (event.shiftKey) void picking.extend(index);
      else if (picking.store.ids().size > 0) picking.toggle(index);
      else if (!onOpen(asset.id)) onPage(asset.id);
    },
    onDoubleClick(event: MouseEvent<HTMLElement>) {
      const index = tileOf(event);
      const asset = index === undefined ? undefined : source.at(index);
      if (asset && !event.shiftKey && picking.store.ids().size === 0) onPage(asset.id);
    },
  };
}

function tileOf({ target }: MouseEvent): number | undefined {
  const tile = target instanceof Element ? target.closest<HTMLElement>("a[data-index]") : null;
  return tile ? Number(tile.dataset.index) : undefined;
}
