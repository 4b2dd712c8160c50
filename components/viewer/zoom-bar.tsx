import { Minus, Plus } from "lucide-react";
import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { type usePanZoom } from "@/components/ui/hooks/use-pan-zoom";
import { type Size } from "@/components/ui/hooks/viewport";

type ZoomBarProps = {
  zoom: ReturnType<typeof usePanZoom>;
  /** There is something to zoom. */
  isThere: boolean;
  /** The size of the single picture, in its own pixels. */
  size?: Size;
  className?: string;
};

/** Buttons for what the keys do, and the current zoom. */
export function ZoomBar({ zoom, size, isThere, className }: ZoomBarProps) {
  const t = useTranslations("viewer");
  const number = useNumber();
  const { view, isFitted } = zoom;
  return (
    <div className={cn("flex flex-wrap items-center gap-2", className)}>
      <Button aria-pressed={isFitted} title={`${t("fit")} (0)`} onClick={zoom.fit}>
        {t("fit")}
      </Button>
      <Button aria-pressed={view.scale === 1} title={`${t("pixels")} (1)`} onClick={zoom.actualSize}>
        {t("pixels")}
      </Button>
      <Button size="icon" aria-label={t("zoomOut")} title={`${t("zoomOut")} (-)`} onClick={zoom.zoomOut}>
        <Minus aria-hidden="true" className="size-4" />
      </Button>
      <Button size="icon" aria-label={t("zoomIn")} title={`${t("zoomIn")} (+)`} onClick={zoom.zoomIn}>
        <Plus aria-hidden="true" className="size-4" />
      </Button>
      <span role="status" className="min-w-12 text-ink-3 tabular-nums">
        {isThere ? t("at", { percent: number(Math.round(view.scale * 100)) }) : ""}
      </span>
      {size ? <span className="text-ink-3 tabular-nums">{t("size", size)}</span> : null}
    </div>
  );
}
