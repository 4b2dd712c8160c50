import { useTranslations } from "next-intl";
import { useState, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { usePanZoom } from "@/components/ui/hooks/use-pan-zoom";
import { pictureScales, type Size } from "@/components/ui/hooks/viewport";
import { ComparePane } from "./compare-pane";
import { CompareSlider } from "./compare-slider";
import { noteSize } from "./seen-sizes";
import { type ViewerItem } from "./viewer-item";
import { ZoomBar } from "./zoom-bar";

/** All are drawn as large as the largest, so that the same point of each picture is at the same point of its pane. */
export function ComparePictures({ items, isSlider }: { items: readonly ViewerItem[]; isSlider: boolean }) {
  const t = useTranslations("viewer.comparing");
  const [sizes, setSizes] = useState<Readonly<Record<string, Size | "broken">>>({});
  const [share, setShare] = useState(0.5);
  const isTall = useSyncExternalStore(onResize, isTallNow, () => false);
  const [longSide, shortSide] = isSlider ? [1, 1] : items.length === 4 ? [2, 2] : [items.length, 1];
  const [columns, rows] = isTall ? [shortSide, longSide] : [longSide, shortSide];
  const content = largest(Object.values(sizes).flatMap((size) => (size === "broken" ? [] : [size])));
  const zoom = usePanZoom({ content, scales: pictureScales, margin: 0, columns, rows });
  const { frame, view, handlers } = zoom;
  const clipOf = (index: number) => (index === 0 ? "none" : `inset(0 0 0 ${share * 100}%)`);
  return (
    <>
      <div className="relative min-h-0 flex-1">
        <div
          ref={frame}
          role="group"
          tabIndex={0}
          aria-label={t("pictures")}
          {...handlers}
          style={isSlider ? undefined : { gridTemplateColumns: `repeat(${columns}, 1fr)`, gridTemplateRows: `repeat(${rows}, 1fr)` }}
          className={cn(
            "h-full w-full cursor-grab touch-none overflow-hidden -outline-offset-2 select-none",
            isSlider ? "relative" : "grid",
          )}
        >
          {items.map((item, index) => (
            <ComparePane
              key={item.id}
              item={item}
              number={index + 1}
              own={sizes[item.id]}
              content={content}
              view={view}
              clip={isSlider ? clipOf(index) : undefined}
              isCaptionRight={isSlider && index === 1}
              onSize={(size) => {
                setSizes((known) => ({ ...known, [item.id]: size }));
                if (size !== "broken") noteSize(item.src, size);
              }}
            />
          ))}
        </div>
        {isSlider ? <CompareSlider share={share} onShare={setShare} /> : null}
      </div>
      <ZoomBar
        zoom={zoom}
        isThere={content.width > 0}
        className={cn("shrink-0 justify-center border-t border-line px-4 py-2", content.width === 0 && "invisible")}
      />
    </>
  );
}

/** On a phone pictures are stacked: side by side each would be a strip. */
const isTallNow = () => window.innerHeight > window.innerWidth;

function onResize(listener: () => void): () => void {
  window.addEventListener("resize", listener, { passive: true });
  return () => window.removeEventListener("resize", listener);
}

function largest(sizes: readonly Size[]): Size {
  return sizes.reduce((most, one) => (one.width * one.height > most.width * most.height ? one : most), { width: 0, height: 0 });
}
