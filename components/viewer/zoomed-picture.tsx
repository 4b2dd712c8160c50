"use client";

import { ImageOff, Minus, Plus } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Skeleton } from "@/components/ui/skeleton";
import { useNumber } from "@/components/ui/use-numbers";
import { usePanZoom } from "@/components/ui/use-pan-zoom";
import { pictureScales, type Size } from "@/components/ui/viewport";

type ZoomedPictureProps = {
  src: string;
  alt: string;
  /** A smaller one of the same, which stands in until the whole one is there. */
  poster?: string;
  /** On a page a finger goes on moving the page while all of the picture is seen; over the whole window it moves the picture. */
  place: "page" | "window";
  /** It has come, or it never will. */
  onReady?: () => void;
  /** Its bytes do not come, or are no picture here. Who does not listen gets a sentence in its place. */
  onBroken?: () => void;
  /** True: the key is answered. */
  onKey?: (event: KeyboardEvent) => boolean;
};

/** In its own pixels, fitted until somebody zooms. */
export function ZoomedPicture({ src, alt, poster, place, onReady, onBroken, onKey }: ZoomedPictureProps) {
  const t = useTranslations("viewer");
  const number = useNumber();
  const image = useRef<HTMLImageElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [isBroken, setBroken] = useState(false);
  const zoom = usePanZoom({ content: size, scales: pictureScales, margin: 0 });
  const { frame, view, handlers, isFitted } = zoom;
  const isThere = size.width > 0;
  const isInWindow = place === "window";

  function arrived({ naturalWidth: width, naturalHeight: height }: HTMLImageElement) {
    if (width > 0) setSize({ width, height });
    else {
      setBroken(true);
      onBroken?.();
    }
    onReady?.();
  }
  const lookAtOnce = useEffectEvent(() => {
    // A picture of the first HTML may have come, or failed, before React was there to hear of it.
    if (image.current?.complete && image.current.currentSrc) arrived(image.current);
  });
  useEffect(() => lookAtOnce(), []);
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
        onDoubleClick={(event) => (isFitted ? zoom.zoomTo(1, zoom.placeOf(event)) : zoom.fit())}
        className={cn(
          "relative cursor-grab overflow-hidden -outline-offset-2 select-none",
          isInWindow ? "min-h-0 flex-1" : "h-[min(72dvh,820px,100vw)] rounded-sm bg-sunken",
          isInWindow || !isFitted ? "touch-none" : "touch-pan-y",
        )}
      >
        {isThere ? null : <StandIn poster={poster} isBroken={isBroken} />}
        {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
        <img
          ref={image}
          src={src}
          alt={alt}
          draggable={false}
          decoding="async"
          onLoad={({ currentTarget }) => arrived(currentTarget)}
          onError={({ currentTarget }) => arrived(currentTarget)}
          style={{
            transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})`,
            backgroundSize: `${16 / view.scale}px ${16 / view.scale}px`,
            imageRendering: view.scale >= 3 ? "pixelated" : undefined,
          }}
          hidden={!isThere}
          className="see-through absolute top-0 left-0 max-w-none origin-top-left"
        />
      </div>
      <div
        className={cn(
          "flex flex-wrap items-center gap-2",
          isInWindow ? "justify-center border-t border-line px-4 py-2" : "mt-2",
          // There is nothing to zoom; its room stays, since the next one may be a picture.
          isBroken && "invisible",
        )}
      >
        <Button aria-pressed={isFitted} onClick={zoom.fit}>
          {t("fit")}
        </Button>
        <Button aria-pressed={view.scale === 1} onClick={zoom.actualSize}>
          {t("pixels")}
        </Button>
        <Button size="icon" aria-label={t("zoomOut")} title={t("zoomOut")} onClick={zoom.zoomOut}>
          <Minus aria-hidden="true" className="size-4" />
        </Button>
        <Button size="icon" aria-label={t("zoomIn")} title={t("zoomIn")} onClick={zoom.zoomIn}>
          <Plus aria-hidden="true" className="size-4" />
        </Button>
        <span role="status" className="min-w-12 text-ink-3 tabular-nums">
          {isThere ? t("at", { percent: number(Math.round(view.scale * 100)) }) : ""}
        </span>
      </div>
    </div>
  );
}

/** The smaller one until the whole one is there; without it, that it is on its way, or that it never comes. */
function StandIn({ poster, isBroken }: { poster: string | undefined; isBroken: boolean }) {
  const t = useTranslations("viewer");
  const [lostPoster, setLostPoster] = useState<string>();
  const isSeen = poster !== undefined && poster !== lostPoster;
  return (
    <>
      {isSeen ? (
        // eslint-disable-next-line @next/next/no-img-element -- our own thumbnail route has made it already
        <img src={poster} alt="" onError={() => setLostPoster(poster)} className="absolute inset-0 size-full object-contain" />
      ) : null}
      {isBroken ? (
        <p
          className={cn(
            "absolute inset-x-0 mx-auto flex w-fit flex-col items-center gap-2 rounded-sm bg-surface/90 px-2 py-1 text-ink-2",
            isSeen ? "bottom-3" : "top-1/2 -translate-y-1/2",
          )}
        >
          {isSeen ? null : <ImageOff aria-hidden="true" className="size-8 text-ink-3" />}
          {t("broken")}
        </p>
      ) : isSeen ? null : (
        <span role="status" aria-label={t("loading")} className="absolute inset-0 grid place-items-center">
          <Skeleton className="size-[min(60%,420px)]" />
        </span>
      )}
    </>
  );
}
