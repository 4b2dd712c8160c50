import { Eye, EyeOff, Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useSyncExternalStore } from "react";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { type MaskDocument, type MaskState } from "../drawing/mask-document";
import { type Command } from "../input/keys";
import { type Painter } from "./painter";
import { type ViewStore } from "./view-store";

type StatusBarProps = {
  drawing: MaskDocument;
  state: MaskState;
  views: ViewStore;
  painter: Painter;
  isShown: boolean;
  onCommand: (command: Command) => void;
};

/** The drawing in words, and the zoom. The last act is also announced to screen readers. */
export function StatusBar({ drawing, state, views, painter, isShown, onCommand }: StatusBarProps) {
  const t = useTranslations("masks");
  const locale = useLocale();
  const number = useNumber();
  const scale = useSyncExternalStore(views.subscribe, views.scale, views.scale);
  const { width, height } = drawing.coverage;
  const zoom = scale.toLocaleString(locale, { style: "percent" });
  const share = shareText(state.paintedShare, locale);
  const last = drawing.lastDone();
  return (
    <div className="flex min-h-9 shrink-0 items-center gap-x-3 overflow-x-auto border-t border-line bg-bg px-2.5 text-sm whitespace-nowrap text-ink-2 tabular-nums">
      <span className="max-sm:hidden">{t("status.size", { width: number(width), height: number(height) })}</span>
      <span>{t("status.painted", { share })}</span>
      {state.isBusy ? <span role="status">{t("status.busy")}</span> : null}
      <Place painter={painter} />
      <span role="status" className="sr-only">
        {last ? t(`done.${last.what}`, { act: t(`step.${last.act}`), share }) : ""}
      </span>
      <span className="ml-auto flex items-center gap-0.5">
        <BarButton label={t("panel.shown")} letter="M" isOn={isShown} onClick={() => onCommand({ do: "toggleMask" })}>
          {isShown ? <Eye className="size-4" /> : <EyeOff className="size-4" />}
        </BarButton>
        <BarButton label={t("act.zoomOut")} letter="-" onClick={() => onCommand({ do: "zoomOut" })}>
          <ZoomOut className="size-4" />
        </BarButton>
        <button
          type="button"
          title={t("toolKey", { name: t("act.actual"), key: "1" })}
          aria-label={`${t("act.actual")}, ${zoom}`}
          onClick={() => onCommand({ do: "actual" })}
          className="h-8 w-13 rounded-md text-center hover:bg-off-soft hover:text-ink"
        >
          {zoom}
        </button>
        <BarButton label={t("act.zoomIn")} letter="+" onClick={() => onCommand({ do: "zoomIn" })}>
          <ZoomIn className="size-4" />
        </BarButton>
        <BarButton label={t("act.fit")} letter="0" onClick={() => onCommand({ do: "fit" })}>
          <Maximize className="size-4" />
        </BarButton>
      </span>
    </div>
  );
}

/** The position of the keyboard's cursor, announced as it moves. */
function Place({ painter }: { painter: Painter }) {
  const t = useTranslations("masks.status");
  const cursor = useSyncExternalStore(painter.subscribe, painter.cursor, () => undefined);
  return (
    <span aria-live="polite" className="min-w-20">
      {cursor ? t("place", { x: Math.floor(cursor.x), y: Math.floor(cursor.y) }) : ""}
    </span>
  );
}

type BarButtonProps = { label: string; letter: string; isOn?: boolean; onClick: () => void; children: ReactNode };

function BarButton({ label, letter, isOn, onClick, children }: BarButtonProps) {
  const t = useTranslations("masks");
  return (
    <button
      type="button"
      aria-label={label}
      title={t("toolKey", { name: label, key: letter })}
      aria-pressed={isOn}
      onClick={onClick}
      className="grid size-8 shrink-0 place-items-center rounded-md hover:bg-off-soft hover:text-ink"
    >
      {children}
    </button>
  );
}

/** Never 0 % while something is painted, nor 100 % while something is not. */
function shareText(share: number, locale: string): string {
  const rounded = share > 0 && share < 0.001 ? 0.001 : share < 1 && share > 0.999 ? 0.999 : share;
  return rounded.toLocaleString(locale, { style: "percent", maximumFractionDigits: 1 });
}
