"use client";

import { useTranslations } from "next-intl";
import { useState, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { pictureScales, type Size } from "@/components/ui/viewport";
import { usePanZoom } from "@/components/ui/use-pan-zoom";
import { type ViewerItem } from "./viewer-item";

const KEY_STEP = 0.02;

/** All are drawn as large as the largest, so that the same place of each picture is in the same place of its pane. */
export function ComparePictures({ items, isSlider }: { items: readonly ViewerItem[]; isSlider: boolean }) {
  const t = useTranslations("viewer.comparing");
  const [sizes, setSizes] = useState<Readonly<Record<string, Size>>>({});
  const [share, setShare] = useState(0.5);
  const isTall = useSyncExternalStore(onResize, isTallNow);
  const [longSide, shortSide] = isSlider ? [1, 1] : items.length === 4 ? [2, 2] : [items.length, 1];
  const [columns, rows] = isTall ? [shortSide, longSide] : [longSide, shortSide];
  const content = largest(Object.values(sizes));
  const { frame, view, handlers } = usePanZoom({ content, scales: pictureScales, margin: 0, columns, rows });
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={frame}
        role="group"
        tabIndex={0}
        aria-label={t("pictures")}
        {...handlers}
        style={isSlider ? undefined : { gridTemplateColumns: `repeat(${columns}, 1fr)`, gridTemplateRows: `repeat(${rows}, 1fr)` }}
        className={cn("h-full w-full cursor-grab touch-none overflow-hidden select-none", isSlider ? "relative" : "grid")}
      >
        {items.map((item, index) => {
          const { x, y, ...drawn } = drawnIn(content, sizes[item.id]);
          return (
            <figure
              key={item.id}
              style={isSlider && index === 1 ? { clipPath: `inset(0 0 0 ${share * 100}%)` } : undefined}
              className={cn("overflow-hidden bg-bg", isSlider ? "absolute inset-0" : "relative border-r border-b border-line")}
            >
              {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
              <img
                src={item.src}
                alt={item.name}
                draggable={false}
                onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
                  setSizes((known) => ({ ...known, [item.id]: { width, height } }))
                }
                style={{
                  ...drawn,
                  transform: `translate(${view.x + x * view.scale}px, ${view.y + y * view.scale}px) scale(${view.scale})`,
                  backgroundSize: `${16 / view.scale}px ${16 / view.scale}px`,
                  imageRendering: view.scale >= 3 ? "pixelated" : undefined,
                  // A hairline at every scale: a white picture on a light ground has an edge as well.
                  outlineWidth: `${1 / view.scale}px`,
                }}
                className="see-through absolute top-0 left-0 max-w-none origin-top-left outline outline-ink/25"
              />
              <figcaption
                className={cn(
                  "absolute top-2 max-w-[45%] truncate rounded-sm bg-surface/90 px-1.5 py-0.5 text-sm",
                  isSlider && index === 1 ? "right-2" : "left-2",
                )}
              >
                {index + 1} · {item.name} {item.note ? <span className="text-ink-2">{item.note}</span> : null}
              </figcaption>
            </figure>
          );
        })}
      </div>
      {isSlider ? (
        <>
          <div aria-hidden="true" style={{ left: `${share * 100}%` }} className="pointer-events-none absolute inset-y-0 w-0.5 bg-accent" />
          <input
            type="range"
            min={0}
            max={1}
            step={KEY_STEP}
            value={share}
            aria-label={t("share")}
            onChange={({ currentTarget }) => setShare(Number(currentTarget.value))}
            className="absolute bottom-3 left-1/2 w-[min(480px,80%)] -translate-x-1/2 accent-accent"
          />
        </>
      ) : null}
    </div>
  );
}

/** On a phone pictures stand over one another: side by side each would be a strip. */
const isTallNow = () => window.innerHeight > window.innerWidth;

function onResize(listener: () => void): () => void {
  window.addEventListener("resize", listener, { passive: true });
  return () => window.removeEventListener("resize", listener);
}

/** As large as it can be inside the largest, in the middle of it: only its own pixels stand on the ground that shows through. */
function drawnIn(content: Size, own: Size | undefined): Size & { x: number; y: number } {
  if (!own || own.width * own.height === 0) return { ...content, x: 0, y: 0 };
  const scale = Math.min(content.width / own.width, content.height / own.height);
  const [width, height] = [own.width * scale, own.height * scale];
  return { width, height, x: (content.width - width) / 2, y: (content.height - height) / 2 };
}

function largest(sizes: readonly Size[]): Size {
  return sizes.reduce((most, one) => (one.width * one.height > most.width * most.height ? one : most), { width: 0, height: 0 });
}
