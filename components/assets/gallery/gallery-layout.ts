// Computes the columns and row heights of the gallery.
// Guarantees: all rows have the same height. A screenful plus one row above and below never exceeds MAX_TILES, since tiles grow on larger
// screens.

export const tileSizes = ["small", "medium", "large"] as const;
export type TileSize = (typeof tileSizes)[number];

export const MAX_TILES = 150;
export const GAP_X = 10;
export const GAP_Y = 8;
const CAPTION_PX = 27;

/** A tile's minimum width and the height of its thumbnail. */
const tileShapes: Readonly<Record<TileSize, { widthPx: number; picturePx: number }>> = {
  small: { widthPx: 104, picturePx: 80 },
  medium: { widthPx: 150, picturePx: 120 },
  large: { widthPx: 290, picturePx: 230 },
};

export type GalleryLayout = { columns: number; rowPx: number; picturePx: number };

export function computeGalleryLayout({ widthPx, screenPx, size }: { widthPx: number; screenPx: number; size: TileSize }): GalleryLayout {
  const shape = tileShapes[size];
  for (let scale = 1; ; scale *= 1.08) {
    const columns = Math.max(1, Math.floor((widthPx + GAP_X) / (shape.widthPx * scale + GAP_X)));
    const picturePx = Math.round(shape.picturePx * scale);
    const rowPx = picturePx + CAPTION_PX + GAP_Y;
    if (columns === 1 || columns * countRows(screenPx, rowPx) <= MAX_TILES) return { columns, rowPx, picturePx };
  }
}

/** The tile size for server-rendered HTML, where the width is unknown. CSS chooses the columns by the same rule. */
export function getInitialTileSize(size: TileSize): { widthPx: number; picturePx: number } {
  return tileShapes[size];
}

/** The number of rows that can be visible at once, plus one above and one below. */
function countRows(screenPx: number, rowPx: number): number {
  return Math.ceil(screenPx / rowPx) + 3;
}

export type RowRange = { from: number; to: number };

export type GalleryViewport = {
  atPx: number;
  screenPx: number;
  rowPx: number;
  columns: number;
  rows: number;
  /** Only visible rows, without overscan. */
  isVisibleOnly?: boolean;
};

/** Returns the rows to draw around `atPx`: the visible rows and up to half a screen above and below. */
export function getRowsAround({ atPx, screenPx, rowPx, columns, rows, isVisibleOnly = false }: GalleryViewport): RowRange {
  const firstVisible = Math.floor(atPx / rowPx);
  const lastVisible = Math.ceil((atPx + screenPx) / rowPx);
  const spareRows = Math.floor(MAX_TILES / columns) - (lastVisible - firstVisible);
  const margin = isVisibleOnly ? 0 : Math.max(1, Math.min(Math.floor(spareRows / 2), Math.ceil(screenPx / rowPx / 2)));
  const from = Math.min(Math.max(0, rows - 1), Math.max(0, firstVisible - margin));
  return { from, to: Math.min(rows, Math.max(from, lastVisible + margin)) };
}

/** Returns the rows to draw in this frame: visible rows and those already drawn. Other `targetRows` can follow later. */
export function getRowsToDraw(visibleRows: RowRange, targetRows: RowRange, drawnRows: RowRange | undefined): RowRange {
  if (!drawnRows || drawnRows.to < visibleRows.from || drawnRows.from > visibleRows.to) return visibleRows;
  return {
    from: Math.min(visibleRows.from, Math.max(targetRows.from, drawnRows.from)),
    to: Math.max(visibleRows.to, Math.min(targetRows.to, drawnRows.to)),
  };
}
