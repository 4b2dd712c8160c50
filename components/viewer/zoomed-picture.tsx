import { ImageOff, Minus, Plus } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, type PointerEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { create } from "zustand";
import { cn } from "@/components/ui/cn";
import { Button, IconButton } from "@/components/ui/controls/button";
import { pictureScales, type Size, usePanZoom } from "@/components/ui/hooks/use-pan-zoom";
import { stopLoadingOnRemoval, useFailureReason } from "@/components/ui/pictures/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { useNumberFormat } from "@/components/ui/time";
import { toPreviewImageUrl } from "@/lib/browser/urls";

const MIN_SWIPE_PX = 56;

/** Swiping an unpannable picture with one finger moves to the next or previous one. A second finger cancels the swipe. */
function useSwipe({ isEnabled, onSwipe }: { isEnabled: boolean; onSwipe: ((offset: 1 | -1) => void) | undefined }) {
  const startPoint = useRef<{ x: number; y: number }>(undefined);
  const [offsetPx, setOffsetPx] = useState(0);
  const reset = () => {
    startPoint.current = undefined;
    setOffsetPx(0);
  };
  return {
    offsetPx,
    down({ pointerType, isPrimary, clientX: x, clientY: y }: PointerEvent) {
      reset();
      if (isEnabled && onSwipe && pointerType === "touch" && isPrimary) startPoint.current = { x, y };
    },
    /** Returns true if the swipe handled the event. */
    move({ clientX }: PointerEvent): boolean {
      if (!startPoint.current) return false;
      setOffsetPx(clientX - startPoint.current.x);
      return true;
    },
    up({ clientX, clientY }: PointerEvent) {
      const start = startPoint.current;
      reset();
      if (!start) return;
      const [x, y] = [clientX - start.x, clientY - start.y];
      if (Math.abs(x) >= MIN_SWIPE_PX && Math.abs(x) > 2 * Math.abs(y)) onSwipe?.(x < 0 ? 1 : -1);
    },
    cancel: reset,
  };
}

type ZoomedPictureProps = {
  src: string;
  alt: string;
  /** A smaller version, shown until the full picture has loaded. */
  poster?: string;
  /** The size of the full picture, if known before it loads. */
  initialSize?: Partial<Size>;
  /** On a page, a finger scrolls the page while the full picture is visible. In a window, it pans the picture. */
  container: "page" | "window";
  /** The user is paging quickly, so the file is requested once they stop. */
  isPaging?: boolean;
  onReady?: () => void;
  /** Called if the picture fails to load. Without it, a message is shown instead. */
  onBroken?: () => void;
  /** Called on a swipe while the full picture is visible. */
  onSwipe?: (offset: 1 | -1) => void;
  /** Returns true if the key was handled. */
  onKey?: (event: KeyboardEvent) => boolean;
};

const PAGING_DELAY_MS = 120;

/** A picture that can be zoomed and panned, fitted until the user zooms. */
export function ZoomedPicture({ src, alt, poster, initialSize, container, isPaging = false, ...callbacks }: ZoomedPictureProps) {
  const { onReady, onBroken, onSwipe, onKey } = callbacks;
  const t = useTranslations("viewer");
  const image = useRef<HTMLImageElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [isBroken, setBroken] = useState(false);
  const [isRequested, setRequested] = useState(!isPaging);
  const zoom = usePanZoom({ content: size, scales: pictureScales, margin: 0 });
  const { frame, view, handlers, isFitted } = zoom;
  const swipe = useSwipe({ isEnabled: isFitted, onSwipe });
  const isLoaded = size.width > 0;
  const isInWindow = container === "window";

  function handleLoad({ naturalWidth: width, naturalHeight: height }: HTMLImageElement) {
    if (width > 0) {
      setSize({ width, height });
      storeSize(src, { width, height });
    } else {
      setBroken(true);
      onBroken?.();
    }
    onReady?.();
  }
  const checkOnMount = useEffectEvent(() => {
    // A server-rendered picture may have loaded, or failed, before hydration.
    if (image.current?.complete && image.current.currentSrc) handleLoad(image.current);
  });
  useEffect(() => {
    checkOnMount();
    return stopLoadingOnRemoval(image.current);
  }, []);
  useEffect(() => {
    if (isRequested) return;
    const timer = setTimeout(() => setRequested(true), PAGING_DELAY_MS);
    return () => clearTimeout(timer);
  }, [isRequested]);
  useEffect(() => {
    if (isInWindow) frame.current?.focus();
  }, [frame, isInWindow]);

  return (
    <div
      className={isInWindow ? "flex min-h-0 flex-1 flex-col" : undefined}
      onKeyDown={(event) => (onKey?.(event) ? undefined : handlers.onKeyDown(event))}
    >
      <div
        ref={frame}
        role="group"
        tabIndex={0}
        aria-label={t("picture")}
        {...{ ...handlers, onKeyDown: undefined }}
        onPointerDown={(event) => {
          swipe.down(event);
          handlers.onPointerDown(event);
        }}
        onPointerMove={(event) => (swipe.move(event) ? zoom.trackPointer(event) : handlers.onPointerMove(event))}
        onPointerUp={(event) => {
          swipe.up(event);
          handlers.onPointerUp(event);
        }}
        onPointerCancel={(event) => {
          swipe.cancel();
          handlers.onPointerCancel(event);
        }}
        onDoubleClick={(event) => (isFitted ? zoom.zoomTo(1, zoom.toPoint(event)) : zoom.fit())}
        className={cn(
          "relative cursor-grab overflow-hidden -outline-offset-2 select-none",
          isInWindow ? "min-h-0 flex-1" : "h-[min(72*var(--dvh),820px,100vw)] rounded-sm bg-sunken",
          isInWindow || !isFitted ? "touch-none" : "touch-pan-y",
        )}
      >
        {isLoaded ? null : <PicturePoster poster={poster} size={initialSize} failedUrl={isBroken ? toPreviewImageUrl(src) : undefined} />}
        {/* eslint-disable-next-line @next/next/no-img-element -- a private file in full size, which must not pass through the image optimizer */}
        <img
          ref={image}
          src={isRequested ? toPreviewImageUrl(src) : undefined}
          alt={alt}
          draggable={false}
          decoding="async"
          onLoad={({ currentTarget }) => handleLoad(currentTarget)}
          onError={({ currentTarget }) => handleLoad(currentTarget)}
          style={{
            transform: `translate(${view.x + swipe.offsetPx}px, ${view.y}px) scale(${view.scale})`,
            backgroundSize: `${16 / view.scale}px ${16 / view.scale}px`,
            imageRendering: view.scale >= 3 ? "pixelated" : undefined,
          }}
          hidden={!isLoaded}
          className="see-through absolute top-0 left-0 max-w-none origin-top-left"
        />
      </div>
      <ZoomBar
        zoom={zoom}
        isLoaded={isLoaded}
        size={isLoaded ? size : undefined}
        className={cn(
          isInWindow ? "justify-center border-t border-line px-4 py-2" : "mt-2",
          // Reserves the space, since the next item may be a picture.
          isBroken && "invisible",
        )}
      />
    </div>
  );
}

type ZoomBarProps = {
  zoom: ReturnType<typeof usePanZoom>;
  isLoaded: boolean;
  /** The natural size of the single picture. */
  size?: Size;
  className?: string;
};

export function ZoomBar({ zoom, size, isLoaded, className }: ZoomBarProps) {
  const t = useTranslations("viewer");
  const formatNumber = useNumberFormat();
  const { view, isFitted } = zoom;
  return (
    <div className={cn("flex flex-wrap items-center gap-2", className)}>
      <Button aria-pressed={isFitted} title={`${t("fit")} (0)`} onClick={zoom.fit}>
        {t("fit")}
      </Button>
      <Button aria-pressed={view.scale === 1} title={`${t("pixels")} (1)`} onClick={zoom.actualSize}>
        {t("pixels")}
      </Button>
      <IconButton icon={Minus} label={t("zoomOut")} title={`${t("zoomOut")} (-)`} onClick={zoom.zoomOut} />
      <IconButton icon={Plus} label={t("zoomIn")} title={`${t("zoomIn")} (+)`} onClick={zoom.zoomIn} />
      <span role="status" className="min-w-12 text-ink-3 tabular-nums">
        {isLoaded ? t("at", { percent: formatNumber(Math.round(view.scale * 100)) }) : ""}
      </span>
      {size ? <span className="text-ink-3 tabular-nums">{t("size", size)}</span> : null}
    </div>
  );
}

type PicturePosterProps = {
  poster?: string;
  /** The size of the full picture, if known: a smaller preview is not enlarged. */
  size?: Partial<Size>;
  /** The URL, if the file could not be shown. */
  failedUrl: string | undefined;
};

/** Shows the poster until the full picture has loaded. Without a poster, shows that it is loading or has failed. */
export function PicturePoster({ poster, size, failedUrl }: PicturePosterProps) {
  const t = useTranslations("viewer");
  const common = useTranslations("common");
  const [failedPoster, setFailedPoster] = useState<string>();
  const reason = useFailureReason(failedUrl);
  const isPosterShown = poster !== undefined && poster !== failedPoster;
  return (
    <>
      {isPosterShown ? (
        // eslint-disable-next-line @next/next/no-img-element -- our own thumbnail route has already resized it
        <img
          ref={stopLoadingOnRemoval}
          src={poster}
          alt=""
          onError={() => setFailedPoster(poster)}
          style={{ maxWidth: size?.width, maxHeight: size?.height }}
          className="absolute inset-0 m-auto size-full object-contain"
        />
      ) : null}
      {failedUrl !== undefined ? (
        <p
          className={cn(
            "absolute inset-x-0 mx-auto flex w-fit flex-col items-center gap-2 rounded-sm bg-surface/90 px-2 py-1 text-ink-2",
            isPosterShown ? "bottom-3" : "top-1/2 -translate-y-1/2",
          )}
        >
          {isPosterShown ? null : <ImageOff aria-hidden="true" className="size-8 text-ink-3" />}
          {typeof reason === "object" ? common("tooLarge", reason) : t("broken")}
        </p>
      ) : isPosterShown ? null : (
        <span role="status" aria-label={t("loading")} className="absolute inset-0 grid place-items-center">
          <Skeleton className="size-[min(60%,420px)]" />
        </span>
      )}
    </>
  );
}

/** The sizes in pixels of pictures shown in full, by URL, for other components of this tab. */
const useSizes = create<ReadonlyMap<string, Size>>(() => new Map());
const MAX_STORED_SIZES = 1000;

export function storeSize(src: string, size: Size): void {
  const sizes = useSizes.getState();
  const storedSize = sizes.get(src);
  if (storedSize?.width === size.width && storedSize.height === size.height) return;
  useSizes.setState(new Map([...[...sizes].slice(-MAX_STORED_SIZES + 1), [src, size]]), true);
}

export function useLoadedSize(src: string | undefined): Size | undefined {
  return useSizes((sizes) => (src === undefined ? undefined : sizes.get(src)));
}
