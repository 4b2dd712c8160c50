"use client";

import { useTranslations } from "next-intl";
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { useNumber } from "@/components/ui/use-numbers";

type ZoomPictureProps = {
  src: string;
  alt: string;
  /** The bytes do not come, or are no picture here. */
  onBroken: () => void;
};
type Size = { width: number; height: number };

const STEP = 1.5;
const MOST = 16;
/** From here on its pixels are seen as they are. */
const PIXELS_FROM = 2;

/** A picture fitted into its box, or in its own pixels and beyond; dragging, the wheel and keys move over it. */
export function ZoomPicture({ src, alt, onBroken }: ZoomPictureProps) {
  const t = useTranslations("assets.zoom");
  const number = useNumber();
  const frame = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>();
  const [fitScale, setFitScale] = useState(1);
  /** Undefined: fitted. */
  const [scale, setScale] = useState<number>();
  const shown = scale ?? fitScale;

  /** The point under the pointer, else the middle, stays where it is. */
  function zoomTo(wanted: number, at?: { x: number; y: number }) {
    const box = frame.current;
    if (!box || !size) return;
    const next = Math.min(MOST, Math.max(0.02, wanted));
    const point = at ?? { x: box.clientWidth / 2, y: box.clientHeight / 2 };
    const offset = {
      x: Math.max(0, (box.clientWidth - size.width * shown) / 2),
      y: Math.max(0, (box.clientHeight - size.height * shown) / 2),
    };
    const place = { x: (box.scrollLeft + point.x - offset.x) / shown, y: (box.scrollTop + point.y - offset.y) / shown };
    setScale(next);
    requestAnimationFrame(() => box.scrollTo({ left: place.x * next - point.x, top: place.y * next - point.y, behavior: "instant" }));
  }
  const wheel = useRef(zoomTo);
  const latest = useRef(shown);
  useEffect(() => {
    wheel.current = zoomTo;
    latest.current = shown;
  });
  useEffect(() => {
    const box = frame.current;
    if (!box) return;
    function onWheel(event: WheelEvent) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const edge = event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : { left: 0, top: 0 };
      wheel.current(latest.current * Math.exp(-event.deltaY / 300), { x: event.clientX - edge.left, y: event.clientY - edge.top });
    }
    box.addEventListener("wheel", onWheel, { passive: false });
    return () => box.removeEventListener("wheel", onWheel);
  }, []);

  function onKeyDown(event: KeyboardEvent) {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoomTo(shown * STEP);
    else if (event.key === "-") zoomTo(shown / STEP);
    else if (event.key === "1") zoomTo(1);
    else if (event.key === "0") setScale(undefined);
    else return;
    event.preventDefault();
  }
  function drag(event: PointerEvent<HTMLDivElement>) {
    const box = frame.current;
    if (!box || event.button !== 0 || event.pointerType !== "mouse") return;
    event.preventDefault();
    box.focus({ preventScroll: true });
    const from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
    const move = ({ clientX, clientY }: globalThis.PointerEvent) =>
      box.scrollTo({ left: from.x - clientX, top: from.y - clientY, behavior: "instant" });
    const end = () => {
      box.removeEventListener("pointermove", move);
      box.removeEventListener("pointerup", end);
      box.removeEventListener("pointercancel", end);
    };
    box.setPointerCapture(event.pointerId);
    box.addEventListener("pointermove", move);
    box.addEventListener("pointerup", end);
    box.addEventListener("pointercancel", end);
  }

  const percent = number(Math.round(shown * 100));
  return (
    <div>
      <div
        ref={frame}
        role="group"
        tabIndex={0}
        aria-label={t("label")}
        onKeyDown={onKeyDown}
        onPointerDown={drag}
        onDoubleClick={(event) => {
          const edge = event.currentTarget.getBoundingClientRect();
          if (scale === undefined) zoomTo(1, { x: event.clientX - edge.left, y: event.clientY - edge.top });
          else setScale(undefined);
        }}
        className="grid h-[min(72dvh,820px)] cursor-grab place-items-center overflow-auto rounded-sm bg-sunken"
      >
        {/* eslint-disable-next-line @next/next/no-img-element -- the private bytes themselves, in their own size, which no optimiser may see */}
        <img
          src={src}
          alt={alt}
          draggable={false}
          decoding="async"
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => {
            setSize({ width, height });
            setFitScale(fitted({ width, height }, frame.current));
          }}
          onError={onBroken}
          style={scale === undefined || !size ? undefined : { width: size.width * scale, height: size.height * scale, maxWidth: "none" }}
          className={
            scale === undefined ? "size-full min-h-0 object-contain" : scale >= PIXELS_FROM ? "block [image-rendering:pixelated]" : "block"
          }
        />
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Button size="small" aria-pressed={scale === undefined} onClick={() => setScale(undefined)}>
          {t("fit")}
        </Button>
        <Button size="small" aria-pressed={scale === 1} onClick={() => zoomTo(1)}>
          {t("pixels")}
        </Button>
        <Button size="small" aria-label={t("out")} onClick={() => zoomTo(shown / STEP)}>
          −
        </Button>
        <Button size="small" aria-label={t("in")} onClick={() => zoomTo(shown * STEP)}>
          +
        </Button>
        <span role="status" className="text-ink-3">
          {size ? t("at", { percent }) : ""}
        </span>
      </div>
    </div>
  );
}

function fitted({ width, height }: Size, box: HTMLElement | null): number {
  return box && box.clientWidth > 0 ? Math.min(box.clientWidth / width, box.clientHeight / height) : 1;
}
