"use client";

import { Minus, Plus } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, useEffect, useState } from "react";
import { Button } from "@/components/ui/button";
import { type Size, pictureScales } from "@/components/ui/viewport";
import { useNumber } from "@/components/ui/use-numbers";
import { usePanZoom } from "@/components/ui/use-pan-zoom";
import { type ViewerItem } from "./viewer-item";

type FullPictureProps = { item: ViewerItem; onReady: () => void; onKey: (event: KeyboardEvent) => boolean };

/** In its own pixels, fitted until somebody zooms; the smaller picture stands in until the whole one is there. */
export function FullPicture({ item, onReady, onKey }: FullPictureProps) {
  const t = useTranslations("viewer");
  const number = useNumber();
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [isBroken, setBroken] = useState(false);
  const { frame, view, handlers, zoomIn, zoomOut, fit, actualSize } = usePanZoom({ content: size, scales: pictureScales, margin: 0 });
  useEffect(() => frame.current?.focus(), [frame]);
  const isThere = size.width > 0;
  return (
    <div className="flex min-h-0 flex-1 flex-col" onKeyDown={(event) => (onKey(event) ? undefined : handlers.onKeyDown(event))}>
      <div
        ref={frame}
        role="group"
        tabIndex={0}
        aria-label={t("picture")}
        {...{ ...handlers, onKeyDown: undefined }}
        className="relative min-h-0 flex-1 cursor-grab touch-none overflow-hidden select-none"
      >
        {isBroken ? <p className="grid h-full place-items-center text-ink-2">{t("broken")}</p> : null}
        {item.poster && !isThere && !isBroken ? (
          // eslint-disable-next-line @next/next/no-img-element -- our own thumbnail route has made it already
          <img src={item.poster} alt="" className="absolute inset-0 size-full object-contain" />
        ) : null}
        {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
        <img
          src={item.src}
          alt={item.name}
          draggable={false}
          onLoad={({ currentTarget }) => {
            setSize({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight });
            onReady();
          }}
          onError={() => {
            setBroken(true);
            onReady();
          }}
          style={{
            transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})`,
            imageRendering: view.scale >= 3 ? "pixelated" : undefined,
          }}
          hidden={isBroken || !isThere}
          className="absolute top-0 left-0 max-w-none origin-top-left"
        />
      </div>
      <div className="flex items-center justify-center gap-2 border-t border-line px-4 py-2">
        <span className="w-14 text-right text-ink-3">{isThere ? `${number(Math.round(view.scale * 100))} %` : null}</span>
        <Button size="icon" aria-label={t("zoomOut")} onClick={zoomOut}>
          <Minus aria-hidden="true" className="size-4" />
        </Button>
        <Button size="icon" aria-label={t("zoomIn")} onClick={zoomIn}>
          <Plus aria-hidden="true" className="size-4" />
        </Button>
        <Button onClick={fit}>{t("fit")}</Button>
        <Button onClick={actualSize}>{t("pixels")}</Button>
      </div>
    </div>
  );
}
