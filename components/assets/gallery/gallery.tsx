import { useLocale, useTranslations } from "next-intl";
import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ThumbnailSize } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { AssetTile } from "./asset-tile";
import { type AssetsSource } from "./chunk-store";
import { computeGalleryLayout, type GalleryLayout, GAP_X, getInitialTileSize, MAX_TILES, type TileSize } from "./gallery-layout";
import { getOffsetStyle } from "./gallery-scroll";
import { RubberBand } from "./rubber-band";
import { type AssetSelection, type useAssetSelection, useTileKeys } from "./use-asset-selection";
import { type GalleryView, OffsetLabel, useGallery } from "./use-gallery";

export type GalleryViewProps = {
  source: AssetsSource;
  selection: ReturnType<typeof useAssetSelection>;
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
  onScrollEnd: (firstIndex: number) => void;
  /** Undefined on unmount. */
  onReady: (gallery: GalleryHandle | undefined) => void;
};
/** Methods for the bars around a gallery. */
export type GalleryHandle = { jumpTo: (index: number) => void; reveal: (index: number) => void; getVisibleIndexes: () => number[] };
type GalleryProps = GalleryViewProps & { size: TileSize; fit: "cover" | "contain" };

/** Enough tiles to fill most windows. They are part of the initial HTML and load immediately. */
const EAGER_TILE_COUNT = 20;
const INITIAL_TILE_COUNT = 60;
const thumbnailEdges: Readonly<Record<TileSize, ThumbnailSize>> = { small: 256, medium: 256, large: 512 };

export function Gallery({
  source,
  selection,
  connectionId,
  connection,
  openId,
  startIndex,
  onOpen,
  onPage,
  onView,
  onScrollEnd,
  onReady,
  size,
  fit,
}: GalleryProps) {
  const t = useTranslations("assets.grid");
  const locale = useLocale();
  const getLayout = useCallback((widthPx: number, screenPx: number) => computeGalleryLayout({ widthPx, screenPx, size }), [size]);
  const gallery = useGallery<GalleryLayout>({ count: source.count, getLayout, startIndex, onScrollEnd });
  const { rendered, container, motion } = gallery;
  const [currentIndex, setCurrentIndex] = useState<number>();
  useRequestedRows(source, gallery);
  useTileKeys({
    gallery,
    source,
    selection,
    getVisibleIndexes: () => getVisibleIndexes(),
    columns: rendered?.columns ?? 1,
    currentIndex,
    onCurrentChange: setCurrentIndex,
    openId,
    onOpen,
    onPage,
    onView,
  });
  const clickHandlers = useTileClicks({ source, selection, onOpen, onPage });
  useKeepInView(openId, source, gallery);

  const duplicateNames = useMemo(() => findDuplicateNames(source.getRows()), [source]);
  const initialTileSize = getInitialTileSize(size);
  const from = rendered ? rendered.from * rendered.columns : startIndex;
  const to = Math.min(source.count, rendered ? rendered.to * rendered.columns : startIndex + INITIAL_TILE_COUNT);
  const getVisibleIndexes = useGalleryHandle(onReady, gallery, from, to);
  const style = rendered
    ? {
        ...getOffsetStyle(rendered.topPx),
        gridTemplateColumns: `repeat(${rendered.columns}, minmax(0, 1fr))`,
        columnGap: GAP_X,
        "--tile-picture": `${rendered.picturePx}px`,
      }
    : {
        gridTemplateColumns: `repeat(auto-fill, minmax(min(${initialTileSize.widthPx}px, 100%), 1fr))`,
        columnGap: GAP_X,
        "--tile-picture": `${initialTileSize.picturePx}px`,
      };
  const tabStopIndex =
    currentIndex !== undefined && currentIndex >= from && currentIndex < to ? currentIndex : Math.max(from, Math.min(startIndex, to - 1));
  return (
    <div className="p-4 md:px-5">
      <div
        ref={container}
        style={rendered ? { height: rendered.heightPx } : undefined}
        className="relative select-none"
        {...clickHandlers}
        // Prevents the browser from dragging the link or image.
        onDragStart={(event) => event.preventDefault()}
        onFocus={({ target }) => {
          const index = getTileIndex(target);
          if (index !== undefined) setCurrentIndex(index);
        }}
      >
        <ul aria-label={t("label")} style={style} className={rendered ? "tiles absolute inset-x-0 top-0" : "tiles"}>
          {getVisibleIndexes().map((index) => {
            const asset = source.at(index);
            const isCurrent = index === tabStopIndex;
            // The focused tile keeps its element when its asset arrives.
            if (!asset && !isCurrent) return <LoadingTile key={`waiting-${index % MAX_TILES}`} index={index} count={source.count} />;
            return (
              <AssetTile
                key={index}
                asset={asset}
                hasDuplicateName={asset !== undefined && duplicateNames.has(asset.name)}
                index={index}
                count={source.count}
                locale={locale}
                connectionId={connectionId}
                connection={connection}
                edge={thumbnailEdges[size]}
                fit={fit}
                isOpen={openId !== undefined && asset?.id === openId}
                isInitial={!rendered && index < startIndex + EAGER_TILE_COUNT}
                isCurrent={isCurrent}
                motion={motion}
                selection={selection}
              />
            );
          })}
        </ul>
        <RubberBand gallery={gallery} source={source} selection={selection} />
      </div>
      <OffsetLabel gallery={gallery} source={source} />
    </div>
  );
}

function getTileIndex(target: EventTarget): number | undefined {
  const text = target instanceof HTMLElement ? target.dataset.index : undefined;
  return text === undefined ? undefined : Number(text);
}

/** Passes the gallery's methods to `onReady` once the list is measured. Returns a function that lists the indexes of the drawn tiles. */
export function useGalleryHandle(
  onReady: GalleryViewProps["onReady"],
  { rendered, jumpTo, reveal }: Pick<GalleryView<{ columns: number; rowPx: number }>, "rendered" | "jumpTo" | "reveal">,
  from: number,
  to: number,
): () => number[] {
  const getVisibleIndexes = useCallback(() => Array.from({ length: Math.max(0, to - from) }, (_, offset) => from + offset), [from, to]);
  const isDrawn = rendered !== undefined;
  useEffect(() => {
    if (!isDrawn) return;
    onReady({ jumpTo, reveal, getVisibleIndexes });
    return () => onReady(undefined);
  }, [isDrawn, onReady, jumpTo, reveal, getVisibleIndexes]);
  return getVisibleIndexes;
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
    // Missing rows are requested immediately at first, and later when scrolling ends.
    return motion.onSettle(() => request(from, to));
  }, [from, to, request, motion]);
  useEffect(() => () => request(0, 0), [request]);
}

/** Keeps the open tile in view when the panel narrows the gallery. */
function useKeepInView(openId: string | undefined, source: AssetsSource, gallery: GalleryView<GalleryLayout>): void {
  const lastKey = useRef<string>(undefined);
  const columns = gallery.rendered?.columns;
  useEffect(() => {
    if (openId === undefined || columns === undefined) return;
    const key = `${openId} ${columns}`;
    if (lastKey.current === key) return;
    lastKey.current = key;
    const index = source.indexOf(openId);
    if (index >= 0) queueMicrotask(() => gallery.reveal(index));
  }, [openId, columns, source, gallery]);
}

/**
 * The placeholder of an asset that is loading. A jump draws a screenful in one frame, so it has no hooks and few elements. A click does not
 * focus it, since the focus would be lost when the asset arrives.
 */
function LoadingTile({ index, count }: { index: number; count: number }) {
  return (
    <li aria-setsize={count} aria-posinset={index + 1} className="min-w-0">
      <a data-index={index} draggable={false} className="block rounded-sm pb-[27px] outline-offset-2">
        <span className="tile-picture block rounded-sm bg-sunken" />
      </a>
    </li>
  );
}

type TileClickOptions = {
  source: AssetsSource;
  selection: AssetSelection;
  onOpen: (id: string) => boolean;
  onPage: (id: string) => void;
};

/** A click opens the panel and a double click the page. With a selection or Shift, a click selects. The browser handles other clicks. */
function useTileClicks({ source, selection, onOpen, onPage }: TileClickOptions) {
  return {
    onClick(event: MouseEvent<HTMLElement>) {
      const index = findTileIndex(event);
      const asset = index === undefined ? undefined : source.at(index);
      if (index === undefined || !asset || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      if (event.shiftKey) void selection.extendTo(index);
      else if (selection.store.getIds().size > 0) selection.toggle(index);
      else if (!onOpen(asset.id)) onPage(asset.id);
    },
    onDoubleClick(event: MouseEvent<HTMLElement>) {
      const index = findTileIndex(event);
      const asset = index === undefined ? undefined : source.at(index);
      if (asset && !event.shiftKey && selection.store.getIds().size === 0) onPage(asset.id);
    },
  };
}

function findTileIndex({ target }: MouseEvent): number | undefined {
  const tile = target instanceof Element ? target.closest<HTMLElement>("a[data-index]") : null;
  return tile ? Number(tile.dataset.index) : undefined;
}

/** Returns the names that occur more than once. */
export function findDuplicateNames(assets: readonly Pick<AssetView, "name">[]): ReadonlySet<string> {
  const seenNames = new Set<string>();
  const duplicateNames = new Set<string>();
  for (const { name } of assets) {
    if (seenNames.has(name)) duplicateNames.add(name);
    seenNames.add(name);
  }
  return duplicateNames;
}
