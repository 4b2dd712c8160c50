import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useRef, useState, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { Button, IconButton } from "@/components/ui/controls/button";
import { pictureScales, type Size, usePanZoom, type Viewport } from "@/components/ui/hooks/use-pan-zoom";
import { stopLoadingOnRemoval } from "@/components/ui/pictures/picture";
import { FileName } from "@/components/ui/truncated";
import { toPreviewImageUrl } from "@/lib/browser/urls";
import { InputDifferences } from "./input-differences";
import { type ReadWorkflow, type ViewerItem } from "./use-viewing";
import { ViewerDialog } from "./viewer-bar";
import { PicturePoster, storeSize, ZoomBar } from "./zoomed-picture";

type CompareProps = {
  items: readonly ViewerItem[];
  /** Absent if `children` show the differences. */
  readWorkflow?: ReadWorkflow;
  children?: ReactNode;
  onClose: () => void;
};

/** Compares two to four pictures side by side, or two with a slider. They pan and zoom together. Lists the inputs that differ below. */
export function Compare({ items, readWorkflow, children, onClose }: CompareProps) {
  const t = useTranslations("viewer.comparing");
  const dialog = useRef<HTMLDialogElement>(null);
  const [isSlider, setSlider] = useState(false);
  return (
    <ViewerDialog dialog={dialog} label={t("label", { count: items.length })} onClose={onClose}>
      <div className="flex items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="min-w-0 flex-1 truncate font-medium">{t("label", { count: items.length })}</h2>
        {items.length === 2 ? (
          <Button aria-pressed={isSlider} tone={isSlider ? "primary" : "plain"} onClick={() => setSlider(!isSlider)}>
            {t("slider")}
          </Button>
        ) : null}
        <IconButton icon={X} label={t("close")} onClick={() => dialog.current?.close()} />
      </div>
      <ComparePictures items={items} isSlider={isSlider && items.length === 2} />
      {readWorkflow ? <InputDifferences items={items} readWorkflow={readWorkflow} /> : children}
    </ViewerDialog>
  );
}

/** All pictures are scaled to the largest size, so that panes show the same part. */
function ComparePictures({ items, isSlider }: { items: readonly ViewerItem[]; isSlider: boolean }) {
  const t = useTranslations("viewer.comparing");
  const [sizes, setSizes] = useState<Readonly<Record<string, Size | "broken">>>({});
  const [splitRatio, setSplitRatio] = useState(0.5);
  const isPortraitScreen = useSyncExternalStore(subscribeToResize, isPortrait, () => false);
  const [longSide, shortSide] = isSlider ? [1, 1] : items.length === 4 ? [2, 2] : [items.length, 1];
  const [columns, rows] = isPortraitScreen ? [shortSide, longSide] : [longSide, shortSide];
  const content = findLargestSize(Object.values(sizes).flatMap((size) => (size === "broken" ? [] : [size])));
  const zoom = usePanZoom({ content, scales: pictureScales, margin: 0, columns, rows });
  const { frame, view, handlers } = zoom;
  const getClip = (index: number) => (index === 0 ? "none" : `inset(0 0 0 ${splitRatio * 100}%)`);
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
              naturalSize={sizes[item.id]}
              content={content}
              view={view}
              clip={isSlider ? getClip(index) : undefined}
              isCaptionRight={isSlider && index === 1}
              onSize={(size) => {
                setSizes((sizes) => ({ ...sizes, [item.id]: size }));
                if (size !== "broken") storeSize(item.src, size);
              }}
            />
          ))}
        </div>
        {isSlider ? <CompareSlider splitRatio={splitRatio} onSplit={setSplitRatio} /> : null}
      </div>
      <ZoomBar
        zoom={zoom}
        isLoaded={content.width > 0}
        className={cn("shrink-0 justify-center border-t border-line px-4 py-2", content.width === 0 && "invisible")}
      />
    </>
  );
}

/** On portrait screens, pictures are stacked. */
const isPortrait = () => window.innerHeight > window.innerWidth;

function subscribeToResize(listener: () => void): () => void {
  window.addEventListener("resize", listener, { passive: true });
  return () => window.removeEventListener("resize", listener);
}

function findLargestSize(sizes: readonly Size[]): Size {
  return sizes.reduce((largestSize, size) => (size.width * size.height > largestSize.width * largestSize.height ? size : largestSize), {
    width: 0,
    height: 0,
  });
}

type ComparePaneProps = {
  item: ViewerItem;
  /** The picture's number in the text below. */
  number: number;
  /** The natural size; undefined until loaded, "broken" if the picture failed to load. */
  naturalSize: Size | "broken" | undefined;
  /** The largest size of all pictures, to which each is scaled. */
  content: Size;
  view: Viewport;
  /** The visible part as a CSS clip. Absent if panes are side by side. */
  clip?: string;
  isCaptionRight?: boolean;
  onSize: (size: Size | "broken") => void;
};

function ComparePane({ item, number, naturalSize, content, view, clip, isCaptionRight = false, onSize }: ComparePaneProps) {
  const t = useTranslations("viewer");
  const isLoaded = naturalSize !== undefined && naturalSize !== "broken";
  const { x, y, ...fittedSize } = fitInto(content, isLoaded ? naturalSize : undefined);
  const handleLoad = ({ naturalWidth: width, naturalHeight: height }: HTMLImageElement) => onSize(width > 0 ? { width, height } : "broken");
  return (
    <figure
      style={{ clipPath: clip }}
      className={cn("overflow-hidden bg-bg", clip === undefined ? "relative border-r border-b border-line" : "absolute inset-0")}
    >
      {isLoaded ? null : (
        <PicturePoster poster={item.poster} size={item} failedUrl={naturalSize === "broken" ? toPreviewImageUrl(item.src) : undefined} />
      )}
      {/* eslint-disable-next-line @next/next/no-img-element -- a private file in full size, which must not pass through the image optimizer */}
      <img
        ref={stopLoadingOnRemoval}
        src={toPreviewImageUrl(item.src)}
        alt={item.name}
        hidden={!isLoaded}
        draggable={false}
        onLoad={({ currentTarget }) => handleLoad(currentTarget)}
        onError={({ currentTarget }) => handleLoad(currentTarget)}
        style={{
          ...fittedSize,
          transform: `translate(${view.x + x * view.scale}px, ${view.y + y * view.scale}px) scale(${view.scale})`,
          backgroundSize: `${16 / view.scale}px ${16 / view.scale}px`,
          imageRendering: view.scale >= 3 ? "pixelated" : undefined,
          // A hairline at every scale, so that white pictures on a light background have an edge.
          outlineWidth: `${1 / view.scale}px`,
        }}
        className="see-through absolute top-0 left-0 max-w-none origin-top-left outline outline-ink/25"
      />
      <figcaption
        className={cn(
          "pointer-events-none absolute top-2 truncate rounded-sm bg-surface/90 px-1.5 py-0.5 text-sm",
          isCaptionRight ? "right-2" : "left-2",
          clip === undefined ? "max-w-[calc(100%-16px)]" : "max-w-[45%]",
        )}
      >
        {number} · <FileName name={item.name} /> {item.note ? <span className="text-ink-2">{item.note}</span> : null}{" "}
        {isLoaded ? <span className="text-ink-2 tabular-nums">{t("size", naturalSize)}</span> : null}
      </figcaption>
    </figure>
  );
}

/** Fits a picture into the largest size, centered. */
function fitInto(content: Size, naturalSize: Size | undefined): Size & { x: number; y: number } {
  if (!naturalSize || naturalSize.width * naturalSize.height === 0) return { ...content, x: 0, y: 0 };
  const scale = Math.min(content.width / naturalSize.width, content.height / naturalSize.height);
  const [width, height] = [naturalSize.width * scale, naturalSize.height * scale];
  return { width, height, x: (content.width - width) / 2, y: (content.height - height) / 2 };
}

const KEY_STEP = 0.02;

/** Moves the split by dragging the line, or with the slider at the bottom, which also supports keys. */
function CompareSlider({ splitRatio, onSplit }: { splitRatio: number; onSplit: (splitRatio: number) => void }) {
  const t = useTranslations("viewer.comparing");
  const container = useRef<HTMLDivElement>(null);
  const moveSplit = (clientX: number) => {
    const box = container.current?.getBoundingClientRect();
    if (box && box.width > 0) onSplit(Math.min(1, Math.max(0, (clientX - box.left) / box.width)));
  };
  return (
    <div ref={container} className="pointer-events-none absolute inset-0">
      <div
        aria-hidden="true"
        style={{ left: `${splitRatio * 100}%` }}
        onPointerDown={({ currentTarget, pointerId, button }) => {
          if (button === 0) currentTarget.setPointerCapture(pointerId);
        }}
        onPointerMove={({ currentTarget, pointerId, clientX }) => {
          if (currentTarget.hasPointerCapture(pointerId)) moveSplit(clientX);
        }}
        className="pointer-events-auto absolute inset-y-0 grid w-6 -translate-x-1/2 cursor-col-resize touch-none place-items-center"
      >
        <span className="absolute inset-y-0 w-0.5 bg-accent" />
        <span className="relative h-9 w-2 rounded-full bg-accent" />
      </div>
      <input
        type="range"
        min={0}
        max={1}
        step={KEY_STEP}
        value={splitRatio}
        aria-label={t("share")}
        onChange={({ currentTarget }) => onSplit(Number(currentTarget.value))}
        className="pointer-events-auto absolute bottom-3 left-1/2 w-[min(480px,80%)] -translate-x-1/2 accent-accent"
      />
    </div>
  );
}
