import { useTranslations } from "next-intl";
import { type KeyboardEvent, type PointerEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { usePanZoom } from "@/components/ui/hooks/use-pan-zoom";
import { pictureScales, type Size } from "@/components/ui/hooks/viewport";
import { whileShown } from "@/components/ui/pictures/picture";
import { shownPictureUrl } from "@/lib/browser/urls";
import { noteSize } from "./seen-sizes";
import { StandIn } from "./stand-in";
import { ZoomBar } from "./zoom-bar";

/** Shorter moves are an unsteady finger. */
const LEAST = 56;

type SwipeOptions = { isOn: boolean; onSwipe: ((by: 1 | -1) => void) | undefined };

/** One finger swiping over a picture that cannot be panned goes to the next or previous one. A second finger cancels the swipe. */
function useSwipe({ isOn, onSwipe }: SwipeOptions) {
  const from = useRef<{ x: number; y: number }>(undefined);
  const [by, setBy] = useState(0);
  const end = () => {
    from.current = undefined;
    setBy(0);
  };
  return {
    /** How far the finger has moved it. */
    by,
    down({ pointerType, isPrimary, clientX: x, clientY: y }: PointerEvent) {
      end();
      if (isOn && onSwipe && pointerType === "touch" && isPrimary) from.current = { x, y };
    },
    /** True if the swipe used the move. */
    move({ clientX }: PointerEvent): boolean {
      if (!from.current) return false;
      setBy(clientX - from.current.x);
      return true;
    },
    up({ clientX, clientY }: PointerEvent) {
      const start = from.current;
      end();
      if (!start) return;
      const [x, y] = [clientX - start.x, clientY - start.y];
      if (Math.abs(x) >= LEAST && Math.abs(x) > 2 * Math.abs(y)) onSwipe?.(x < 0 ? 1 : -1);
    },
    cancel: end,
  };
}

type ZoomedPictureProps = {
  src: string;
  alt: string;
  /** A smaller version, shown until the whole one has loaded. */
  poster?: string;
  /** The size of the whole one, if known before it loads. */
  known?: Partial<Size>;
  /** On a page, a finger scrolls the page while the whole picture is visible; in the window, it moves the picture. */
  place: "page" | "window";
  /** It may only be passed by: its bytes are requested once the person stays. */
  isPassing?: boolean;
  /** It has loaded, or failed to. */
  onReady?: () => void;
  /** Its bytes cannot be loaded, or are no picture. Without this callback, a sentence is shown in its place. */
  onBroken?: () => void;
  /** A finger swipes it while the whole picture is visible. */
  onSwipe?: (by: 1 | -1) => void;
  /** True if the key was handled. */
  onKey?: (event: KeyboardEvent) => boolean;
};

/** A key held down passes about thirty items per second. */
const STAYS_MS = 120;

/** In its natural pixels, fitted until a person zooms. */
export function ZoomedPicture({ src, alt, poster, known, place, isPassing = false, ...on }: ZoomedPictureProps) {
  const { onReady, onBroken, onSwipe, onKey } = on;
  const t = useTranslations("viewer");
  const image = useRef<HTMLImageElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [isBroken, setBroken] = useState(false);
  const [isAsked, setAsked] = useState(!isPassing);
  const zoom = usePanZoom({ content: size, scales: pictureScales, margin: 0 });
  const { frame, view, handlers, isFitted } = zoom;
  const swipe = useSwipe({ isOn: isFitted, onSwipe });
  const isThere = size.width > 0;
  const isInWindow = place === "window";

  function arrived({ naturalWidth: width, naturalHeight: height }: HTMLImageElement) {
    if (width > 0) {
      setSize({ width, height });
      noteSize(src, { width, height });
    } else {
      setBroken(true);
      onBroken?.();
    }
    onReady?.();
  }
  const lookAtOnce = useEffectEvent(() => {
    // A picture in the first HTML may have loaded, or failed, before React was listening.
    if (image.current?.complete && image.current.currentSrc) arrived(image.current);
  });
  useEffect(() => {
    lookAtOnce();
    return whileShown(image.current);
  }, []);
  useEffect(() => {
    if (isAsked) return;
    const timer = setTimeout(() => setAsked(true), STAYS_MS);
    return () => clearTimeout(timer);
  }, [isAsked]);
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
        onPointerMove={(event) => (swipe.move(event) ? zoom.note(event) : handlers.onPointerMove(event))}
        onPointerUp={(event) => {
          swipe.up(event);
          handlers.onPointerUp(event);
        }}
        onPointerCancel={(event) => {
          swipe.cancel();
          handlers.onPointerCancel(event);
        }}
        onDoubleClick={(event) => (isFitted ? zoom.zoomTo(1, zoom.placeOf(event)) : zoom.fit())}
        className={cn(
          "relative cursor-grab overflow-hidden -outline-offset-2 select-none",
          isInWindow ? "min-h-0 flex-1" : "h-[min(72*var(--dvh),820px,100vw)] rounded-sm bg-sunken",
          isInWindow || !isFitted ? "touch-none" : "touch-pan-y",
        )}
      >
        {isThere ? null : <StandIn poster={poster} size={known} lost={isBroken ? shownPictureUrl(src) : undefined} />}
        {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
        <img
          ref={image}
          src={isAsked ? shownPictureUrl(src) : undefined}
          alt={alt}
          draggable={false}
          decoding="async"
          onLoad={({ currentTarget }) => arrived(currentTarget)}
          onError={({ currentTarget }) => arrived(currentTarget)}
          style={{
            transform: `translate(${view.x + swipe.by}px, ${view.y}px) scale(${view.scale})`,
            backgroundSize: `${16 / view.scale}px ${16 / view.scale}px`,
            imageRendering: view.scale >= 3 ? "pixelated" : undefined,
          }}
          hidden={!isThere}
          className="see-through absolute top-0 left-0 max-w-none origin-top-left"
        />
      </div>
      <ZoomBar
        zoom={zoom}
        isThere={isThere}
        size={isThere ? size : undefined}
        className={cn(
          isInWindow ? "justify-center border-t border-line px-4 py-2" : "mt-2",
          // There is nothing to zoom; the room is kept, since the next item may be a picture.
          isBroken && "invisible",
        )}
      />
    </div>
  );
}
