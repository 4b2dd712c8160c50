import { useLocale, useTranslations } from "next-intl";
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ThumbnailEdge } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { AssetTile } from "./asset-tile";
import { type AssetsSource } from "./chunk-store";
import { type GalleryLayout, galleryLayout, GAP_X, MAX_TILES, plainLayout, type TileSize } from "./gallery-layout";
import { getOffsetStyle } from "./gallery-scroll";
import { RubberBand } from "./rubber-band";
import { type GalleryView, OffsetLabel, useGallery } from "./use-gallery";
import { type Picking, type usePicking, useTileKeys } from "./use-picking";

export type GalleryViewProps = {
  source: AssetsSource;
  picking: ReturnType<typeof usePicking>;
  connectionId?: string;
  connection?: string;
  openId?: string;
  /** The index at which the list opens. */
  startIndex: number;
  /** Opens the asset in the panel. Returns false if there is no space. */
  onOpen: (id: string) => boolean;
  onPage: (id: string) => void;
  /** Opens the asset in the viewer, which can step through the list. */
  onView: (index: number) => void;
  onRest: (firstIndex: number) => void;
  /** Undefined on unmount. */
  onReady: (gallery: GalleryHandle | undefined) => void;
};
/** Methods for the bars around a gallery. */
export type GalleryHandle = { jumpTo: (index: number) => void; reveal: (index: number) => void; inView: () => number[] };
type GalleryProps = GalleryViewProps & { size: TileSize; fit: "cover" | "contain" };

/** Enough tiles to fill most windows. They are in the first HTML and loaded immediately. */
const EARLY_TILES = 20;
const FIRST_TILES = 60;
const edges: Readonly<Record<TileSize, ThumbnailEdge>> = { small: 256, medium: 256, large: 512 };

export function Gallery({
  source,
  picking,
  connectionId,
  connection,
  openId,
  startIndex,
  onOpen,
  onPage,
  onView,
  onRest,
  onReady,
  size,
  fit,
}: GalleryProps) {
  const t = useTranslations("assets.grid");
  const locale = useLocale();
  const getLayout = useCallback((widthPx: number, screenPx: number) => galleryLayout({ widthPx, screenPx, size }), [size]);
  const gallery = useGallery<GalleryLayout>({ count: source.count, getLayout, startIndex, onRest });
  const { rendered, container, motion } = gallery;
  const [current, setCurrent] = useState<number>();
  useRequestedRows(source, gallery);
  useTileKeys({
    gallery,
    source,
    picking,
    inView: () => inView(),
    columns: rendered?.columns ?? 1,
    current,
    onCurrent: setCurrent,
    openId,
    onOpen,
    onPage,
    onView,
  });
  const clicks = useTileClicks({ source, picking, onOpen, onPage });
  useKeepInView(openId, source, gallery);

  const shared = useMemo(() => sharedNames(source.rows()), [source]);
  const plain = plainLayout(size);
  const from = rendered ? rendered.from * rendered.columns : startIndex;
  const to = Math.min(source.count, rendered ? rendered.to * rendered.columns : startIndex + FIRST_TILES);
  const inView = useHandle(onReady, gallery, from, to);
  const style = rendered
    ? {
        ...getOffsetStyle(rendered.topPx),
        gridTemplateColumns: `repeat(${rendered.columns}, minmax(0, 1fr))`,
        columnGap: GAP_X,
        "--tile-picture": `${rendered.picturePx}px`,
      }
    : {
        gridTemplateColumns: `repeat(auto-fill, minmax(min(${plain.widthPx}px, 100%), 1fr))`,
        columnGap: GAP_X,
        "--tile-picture": `${plain.picturePx}px`,
      };
  const tabbed = current !== undefined && current >= from && current < to ? current : Math.max(from, Math.min(startIndex, to - 1));
  return (
    <div className="p-4 md:px-5">
      <div
        ref={container}
        style={rendered ? { height: rendered.heightPx } : undefined}
        className="relative select-none"
        {...clicks}
        // Without this the browser would drag the link or picture.
        onDragStart={(event) => event.preventDefault()}
        onFocus={({ target }) => {
          const index = getTileIndex(target);
          if (index !== undefined) setCurrent(index);
        }}
      >
        <ul aria-label={t("label")} style={style} className={rendered ? "tiles absolute inset-x-0 top-0" : "tiles"}>
          {inView().map((index) => {
            const asset = source.at(index);
            const isCurrent = index === tabbed;
            // The focused tile keeps its element when its asset arrives.
            if (!asset && !isCurrent) return <WaitingTile key={`waiting-${index % MAX_TILES}`} index={index} count={source.count} />;
            return (
              <AssetTile
                key={index}
                asset={asset}
                isNamesake={asset !== undefined && shared.has(asset.name)}
                index={index}
                count={source.count}
                locale={locale}
                connectionId={connectionId}
                connection={connection}
                edge={edges[size]}
                fit={fit}
                isOpen={openId !== undefined && asset?.id === openId}
                isEarly={!rendered && index < startIndex + EARLY_TILES}
                isCurrent={isCurrent}
                motion={motion}
                picking={picking}
              />
            );
          })}
        </ul>
        <RubberBand gallery={gallery} source={source} picking={picking} />
      </div>
      <OffsetLabel gallery={gallery} source={source} />
    </div>
  );
}

function getTileIndex(target: EventTarget): number | undefined {
  const text = target instanceof HTMLElement ? target.dataset.index : undefined;
  return text === undefined ? undefined : Number(text);
}

/** Passes the page its callbacks once the browser has measured the list. Returns the indices of the drawn tiles. */
export function useHandle(
  onReady: GalleryViewProps["onReady"],
  { rendered, jumpTo, reveal }: Pick<GalleryView<{ columns: number; rowPx: number }>, "rendered" | "jumpTo" | "reveal">,
  from: number,
  to: number,
): () => number[] {
  const inView = useCallback(() => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at), [from, to]);
  const isDrawn = rendered !== undefined;
  useEffect(() => {
    if (!isDrawn) return;
    onReady({ jumpTo, reveal, inView });
    return () => onReady(undefined);
  }, [isDrawn, onReady, jumpTo, reveal, inView]);
  return inView;
}

/** Requests rows once they stay in view. */
export function useRequestedRows(
  source: AssetsSource,
  { rendered, motion }: Pick<GalleryView<{ columns: number; rowPx: number }>, "rendered" | "motion">,
): void {
  const { request, count } = source;
  const from = rendered && rendered.from * rendered.columns;
  const to = rendered && Math.min(count, rendered.to * rendered.columns);
  useEffect(() => {
    if (from === undefined || to === undefined) return;
    // Missing rows are requested immediately at first, later once scrolling rests.
    return motion.onRest(() => request(from, to));
  }, [from, to, request, motion]);
  useEffect(() => () => request(0, 0), [request]);
}

/** Keeps the open tile in view when the panel narrows the gallery. */
function useKeepInView(openId: string | undefined, source: AssetsSource, gallery: GalleryView<GalleryLayout>): void {
  const last = useRef<string>(undefined);
  const columns = gallery.rendered?.columns;
  useEffect(() => {
    if (openId === undefined || columns === undefined) return;
    const key = `${openId} ${columns}`;
    if (last.current === key) return;
    last.current = key;
    const index = source.indexOf(openId);
    if (index >= 0) queueMicrotask(() => gallery.reveal(index));
  }, [openId, columns, source, gallery]);
}

/**
 * The placeholder of an asset that is loading. A jump draws a screenful in one frame, so it has no hooks and few elements. A click does not
 * focus it, since the focus would be lost when the asset arrives.
 */
function WaitingTile({ index, count }: { index: number; count: number }) {
  return (
    <li aria-setsize={count} aria-posinset={index + 1} className="min-w-0">
      <a data-index={index} draggable={false} className="block rounded-sm pb-[27px] outline-offset-2">
        <span className="tile-picture block rounded-sm bg-sunken" />
      </a>
    </li>
  );
}

type TileClicks = {
  source: AssetsSource;
  picking: Picking;
  onOpen: (id: string) => boolean;
  onPage: (id: string) => void;
};

/** A click opens the panel, a double click the page; with a selection or Shift a click selects. Other clicks are left to the browser. */
function useTileClicks({ source, picking, onOpen, onPage }: TileClicks) {
  return {
    onClick(event: MouseEvent<HTMLElement>) {
      const index = findTileIndex(event);
      const asset = index === undefined ? undefined : source.at(index);
      if (index === undefined || !asset || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      if (event.shiftKey) void picking.extend(index);
      else if (picking.store.ids().size > 0) picking.toggle(index);
      else if (!onOpen(asset.id)) onPage(asset.id);
    },
    onDoubleClick(event: MouseEvent<HTMLElement>) {
      const index = findTileIndex(event);
      const asset = index === undefined ? undefined : source.at(index);
      if (asset && !event.shiftKey && picking.store.ids().size === 0) onPage(asset.id);
    },
  };
}

function findTileIndex({ target }: MouseEvent): number | undefined {
  const tile = target instanceof Element ? target.closest<HTMLElement>("a[data-index]") : null;
  return tile ? Number(tile.dataset.index) : undefined;
}

/** The names that occur more than once. */
export function sharedNames(assets: readonly Pick<AssetView, "name">[]): ReadonlySet<string> {
  const seenNames = new Set<string>();
  const shared = new Set<string>();
  for (const { name } of assets) {
    if (seenNames.has(name)) shared.add(name);
    seenNames.add(name);
  }
  return shared;
}
