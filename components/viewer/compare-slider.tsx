import { useTranslations } from "next-intl";
import { useRef } from "react";

const KEY_STEP = 0.02;

type CompareSliderProps = { share: number; onShare: (share: number) => void };

/** Sets where the first picture ends: by dragging the line itself, or with the slider at the bottom, which also takes keys. */
export function CompareSlider({ share, onShare }: CompareSliderProps) {
  const t = useTranslations("viewer.comparing");
  const field = useRef<HTMLDivElement>(null);
  const place = (clientX: number) => {
    const box = field.current?.getBoundingClientRect();
    if (box && box.width > 0) onShare(Math.min(1, Math.max(0, (clientX - box.left) / box.width)));
  };
  return (
    <div ref={field} className="pointer-events-none absolute inset-0">
      <div
        aria-hidden="true"
        style={{ left: `${share * 100}%` }}
        onPointerDown={({ currentTarget, pointerId, button }) => {
          if (button === 0) currentTarget.setPointerCapture(pointerId);
        }}
        onPointerMove={({ currentTarget, pointerId, clientX }) => {
          if (currentTarget.hasPointerCapture(pointerId)) place(clientX);
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
        value={share}
        aria-label={t("share")}
        onChange={({ currentTarget }) => onShare(Number(currentTarget.value))}
        className="pointer-events-auto absolute bottom-3 left-1/2 w-[min(480px,80%)] -translate-x-1/2 accent-accent"
      />
    </div>
  );
}
