import { useTranslations } from "next-intl";
import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { useNumberFormat } from "@/components/ui/time";
import { type AssetsSource } from "./chunk-store";
import { createGalleryScroll, type RenderedRows, type Shape } from "./gallery-scroll";
import { createScrollMotion, type ScrollMotion } from "./scroll-motion";

export type GalleryView<S extends Shape> = Pick<
  ReturnType<typeof createGalleryScroll<S>>,
  "jumpTo" | "reveal" | "getFirstIndex" | "toListPoint"
> & {
  container: RefObject<HTMLDivElement | null>;
  /** Undefined until the browser has measured the width. */
  rendered: RenderedRows<S> | undefined;
  motion: ScrollMotion;
};

type GalleryOptions<S extends Shape> = {
  count: number;
  /** Must be a stable function. */
  getLayout: (widthPx: number, screenPx: number) => S;
  /** The index at which the list opens. */
  startIndex: number;
  /** Called when scrolling ends, with the top tile. */
  onScrollEnd: (firstIndex: number) => void;
  /** The height of a sticky list header, which covers rows. */
  headPx?: number;
};

/** Virtualizes a list of any length. Renders only nearby rows, and stays within every browser's height limit. */
export function useGallery<S extends Shape>({ count, getLayout, startIndex, onScrollEnd, headPx = 0 }: GalleryOptions<S>): GalleryView<S> {
  const container = useRef<HTMLDivElement>(null);
  const [motion] = useState(() => createScrollMotion());
  const [rendered, setRendered] = useState<RenderedRows<S>>();
  const [scroll] = useState(() => createGalleryScroll<S>(setRendered));
  const handleScrollEnd = useEffectEvent(onScrollEnd);

  useLayoutEffect(() => scroll.setCurrentRows(rendered), [scroll, rendered]);

  useLayoutEffect(() => {
    if (container.current) scroll.update({ element: container.current, count, headPx, getLayout }, startIndex);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only the initial start index counts
  }, [scroll, count, headPx, getLayout]);

  // A new layout ends the previous scroll.
  useEffect(() => scroll.listen(motion, (firstIndex) => handleScrollEnd(firstIndex)), [scroll, motion, headPx, getLayout]);

  const { jumpTo, reveal, getFirstIndex, toListPoint } = scroll;
  return { container, rendered, motion, jumpTo, reveal, getFirstIndex, toListPoint };
}

const alwaysFalse = () => false;

/** Shows the position in the list during fast scrolling. */
export function OffsetLabel({ gallery, source }: { gallery: GalleryView<{ columns: number; rowPx: number }>; source: AssetsSource }) {
  const t = useTranslations("assets.grid");
  const formatNumber = useNumberFormat();
  const isScrollingFast = useSyncExternalStore(gallery.motion.subscribe, gallery.motion.isScrollingFast, alwaysFalse);
  // For short lists the scroll bar is enough.
  if (!isScrollingFast || source.count < 300 || !gallery.rendered) return null;
  const position = Math.min(source.count, source.offset + gallery.getFirstIndex() + 1);
  return (
    <div aria-hidden="true" className="pointer-events-none fixed top-1/2 right-8 z-30 -translate-y-1/2">
      <span className="rounded-md bg-ink px-3 py-1.5 text-lg font-medium text-bg tabular-nums shadow-xl">
        {t("place", { at: formatNumber(position), total: formatNumber(source.total ?? source.count) })}
      </span>
    </div>
  );
}
