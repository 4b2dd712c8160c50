// The layout of a gallery of tiles: columns, tile heights and row heights from the width, the screen and the chosen size. Pure arithmetic.
// Guarantees: all rows have the same height, so that a position among a million tiles is one multiplication; a screenful plus a row above
// and below never exceeds MAX_TILES, since tiles grow on screens that would show more.

export const tileSizes = ["small", "medium", "large"] as const;
export type TileSize = (typeof tileSizes)[number];

export const MAX_TILES = 150;
export const GAP_X = 10;
const GAP_Y = 8;
const CAPTION_PX = 27;

/** A tile's least width and the height of its picture. */
const shapes: Readonly<Record<TileSize, { widthPx: number; picturePx: number }>> = {
  small: { widthPx: 104, picturePx: 80 },
  medium: { widthPx: 150, picturePx: 120 },
  large: { widthPx: 290, picturePx: 230 },
};

export type GalleryLayout = { columns: number; rowPx: number; picturePx: number };

export function galleryLayout({ widthPx, screenPx, size }: { widthPx: number; screenPx: number; size: TileSize }): GalleryLayout {
  const shape = shapes[size];
  for (let scale = 1; ; scale *= 1.08) {
    const columns = Math.max(1, Math.floor((widthPx + GAP_X) / (shape.widthPx * scale + GAP_X)));
    const picturePx = Math.round(shape.picturePx * scale);
    const rowPx = picturePx + CAPTION_PX + GAP_Y;
    if (columns === 1 || columns * rowsOf(screenPx, rowPx) <= MAX_TILES) return { columns, rowPx, picturePx };
  }
}

/** For the first HTML, where the width is unknown: the browser chooses the columns by the same rule. */
export function plainLayout(size: TileSize): { widthPx: number; picturePx: number } {
  return shapes[size];
}

/** The rows that a screen can touch, with one above and one below. */
function rowsOf(screenPx: number, rowPx: number): number {
  return Math.ceil(screenPx / rowPx) + 3;
}

export type Rows = { from: number; to: number };

export type View = {
  atPx: number;
  screenPx: number;
  rowPx: number;
  columns: number;
  rows: number;
  /** Only visible rows, without overscan. */
  isBare?: boolean;
};

/** Which rows to draw around `atPx`: those in view, and as many above and below as allowed, half a screen at most. */
export function rowsAround({ atPx, screenPx, rowPx, columns, rows, isBare = false }: View): Rows {
  const first = Math.floor(atPx / rowPx);
  const last = Math.ceil((atPx + screenPx) / rowPx);
  const spare = Math.floor(MAX_TILES / columns) - (last - first);
  const margin = isBare ? 0 : Math.max(1, Math.min(Math.floor(spare / 2), Math.ceil(screenPx / rowPx / 2)));
  const from = Math.min(Math.max(0, rows - 1), Math.max(0, first - margin));
  return { from, to: Math.min(rows, Math.max(from, last + margin)) };
}

/** The rows that must be drawn in this frame: those in view, together with those already drawn. The rest of `targetRows` can follow later. */
export function rowsAtOnce(inView: Rows, targetRows: Rows, rows: Rows | undefined): Rows {
  if (!rows || rows.to < inView.from || rows.from > inView.to) return inView;
  return {
    from: Math.min(inView.from, Math.max(targetRows.from, rows.from)),
    to: Math.max(inView.to, Math.min(targetRows.to, rows.to)),
  };
}
