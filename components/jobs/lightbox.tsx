"use client";

import { ChevronLeft, ChevronRight, Download, Minus, Plus, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

import { Button, buttonStyle } from "@/components/ui/button";
import { usePanZoom } from "@/components/ui/use-pan-zoom";
import { pictureScales } from "@/components/ui/viewport";
import { viewUrl } from "@/lib/browser/urls";
import { type OutputFile, type OutputView } from "@/lib/contract/outputs-view";

type LightboxProps = {
  pictures: readonly { view: OutputView; node: string; file: OutputFile }[];
  at: number;
  onMove: (at: number) => void;
  onClose: () => void;
  connection?: string;
};

/** One picture in full, before everything else: arrows turn the page, + and - zoom, Esc closes and gives the focus back. */
export function Lightbox({ pictures, at, onMove, onClose, connection }: LightboxProps) {
  const t = useTranslations("jobs.job.lightbox");
  const dialog = useRef<HTMLDialogElement>(null);
  const picture = pictures[at];
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  if (!picture) return null;
  const { view, node, file } = picture;
  const src = viewUrl({ ...file, connection });
  return (
    <dialog
      ref={dialog}
      aria-label={t("label", { name: view.name, at: at + 1, count: pictures.length })}
      onClose={onClose}
      className="m-0 h-dvh max-h-none w-screen max-w-none bg-bg p-0 text-ink"
    >
      <FullPicture
        key={src}
        src={src}
        name={view.name}
        onTurn={(by) => pictures[at + by] && onMove(at + by)}
        controls={
          <>
            <span className="min-w-0 flex-1 truncate">
              {view.name} <span className="text-ink-3">{node}</span>
            </span>
            <span role="status" className="text-ink-3">
              {t("place", { at: at + 1, count: pictures.length })}
            </span>
            <Button size="icon" aria-label={t("previous")} aria-disabled={at === 0 || undefined} onClick={() => at > 0 && onMove(at - 1)}>
              <ChevronLeft aria-hidden="true" className="size-4" />
            </Button>
            <Button
              size="icon"
              aria-label={t("next")}
              aria-disabled={at + 1 >= pictures.length || undefined}
              onClick={() => at + 1 < pictures.length && onMove(at + 1)}
            >
              <ChevronRight aria-hidden="true" className="size-4" />
            </Button>
            <a href={src} download={view.name} aria-label={t("download", { name: view.name })} className={buttonStyle({ size: "icon" })}>
              <Download aria-hidden="true" className="size-4" />
            </a>
            <Button size="icon" aria-label={t("close")} onClick={() => dialog.current?.close()}>
              <X aria-hidden="true" className="size-4" />
            </Button>
          </>
        }
      />
    </dialog>
  );
}

type FullPictureProps = { src: string; name: string; onTurn: (by: 1 | -1) => void; controls: ReactNode };

/** In its own pixels, fitted until somebody zooms. */
function FullPicture({ src, name, onTurn, controls }: FullPictureProps) {
  const t = useTranslations("jobs.job.lightbox");
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [isBroken, setBroken] = useState(false);
  const { frame, view, handlers, zoomIn, zoomOut, fit } = usePanZoom({ content: size, scales: pictureScales });
  useEffect(() => frame.current?.focus(), [frame]);
  const turns: Record<string, 1 | -1> = { ArrowLeft: -1, ArrowRight: 1 };

  function onKeyDown(event: KeyboardEvent) {
    const by = turns[event.key];
    if (by === undefined) return handlers.onKeyDown(event);
    event.preventDefault();
    onTurn(by);
  }
  return (
    <div className="flex h-full flex-col" onKeyDown={onKeyDown}>
      <div className="flex items-center gap-2 border-b border-line px-4 py-2 max-sm:flex-wrap">
        {controls}
        <Button size="icon" aria-label={t("zoomOut")} onClick={zoomOut}>
          <Minus aria-hidden="true" className="size-4" />
        </Button>
        <Button size="icon" aria-label={t("zoomIn")} onClick={zoomIn}>
          <Plus aria-hidden="true" className="size-4" />
        </Button>
        <Button onClick={fit}>{t("fit")}</Button>
      </div>
      <div
        ref={frame}
        role="group"
        tabIndex={0}
        aria-label={t("picture")}
        {...{ ...handlers, onKeyDown: undefined }}
        className="relative min-h-0 flex-1 cursor-grab touch-none overflow-hidden select-none"
      >
        {isBroken ? <p className="grid h-full place-items-center text-ink-2">{t("broken")}</p> : null}
        {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
        <img
          src={src}
          alt={name}
          draggable={false}
          onLoad={({ currentTarget }) => setSize({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })}
          onError={() => setBroken(true)}
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
          hidden={isBroken || size.width === 0}
          className="absolute top-0 left-0 max-w-none origin-top-left"
        />
      </div>
    </div>
  );
}
