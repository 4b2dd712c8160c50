import {
  Brush,
  Contrast,
  Eraser,
  Eye,
  EyeOff,
  Hand,
  Keyboard,
  Lasso,
  Maximize,
  PaintBucket,
  Redo2,
  SlidersHorizontal,
  SquareDashed,
  Trash2,
  Undo2,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { type ComponentType, type ReactNode, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { Dialog, KeyList } from "@/components/ui/dialog";
import { useNumber } from "@/components/ui/time/use-clock";
import { type MaskDocument, type MaskState } from "../drawing/mask-document";
import { type Command, keyList, type Tool, tools } from "../input/keys";
import { type Painter } from "./painter";
import { type ViewStore } from "./view-store";

const icons: Readonly<Record<Tool, ComponentType<{ className?: string }>>> = {
  brush: Brush,
  eraser: Eraser,
  rectangle: SquareDashed,
  lasso: Lasso,
  fill: PaintBucket,
  hand: Hand,
};
const letterOf: Readonly<Record<Tool, string>> = { brush: "B", eraser: "E", rectangle: "R", lasso: "L", fill: "G", hand: "H" };

type ToolRailProps = {
  tool: Tool;
  state: MaskState;
  isPanelOpen: boolean;
  onCommand: (command: Command) => void;
  onPanel: () => void;
};

/** Down the left side on wide screens, a row within reach of the thumb on narrow ones. */
export function ToolRail({ tool, state, isPanelOpen, onCommand, onPanel }: ToolRailProps) {
  const t = useTranslations("masks");
  const named = (name: string, key: string) => t("toolKey", { name, key });
  const { undo, redo, isBusy } = state;
  return (
    <div
      role="toolbar"
      aria-label={t("tools")}
      className="flex shrink-0 gap-1 border-line bg-bg p-1.5 max-lg:order-1 max-lg:border-t max-sm:gap-0.5 lg:flex-col lg:border-r"
    >
      {tools.map((one) => {
        const Icon = icons[one];
        return (
          <RailButton
            key={one}
            label={named(t(`tool.${one}`), letterOf[one])}
            isOn={tool === one}
            onClick={() => onCommand({ do: "tool", tool: one })}
          >
            <Icon className="size-4" />
          </RailButton>
        );
      })}
      <span aria-hidden="true" className="shrink-0 bg-line max-lg:mx-0.5 max-lg:w-px lg:my-0.5 lg:h-px" />
      <RailButton
        label={named(undo ? t("undoOf", { act: t(`step.${undo}`) }) : t("act.undo"), "Ctrl Z")}
        isOff={!undo || isBusy}
        onClick={() => onCommand({ do: "undo" })}
      >
        <Undo2 className="size-4" />
      </RailButton>
      <RailButton
        label={named(redo ? t("redoOf", { act: t(`step.${redo}`) }) : t("act.redo"), "Ctrl Y")}
        isOff={!redo || isBusy}
        onClick={() => onCommand({ do: "redo" })}
      >
        <Redo2 className="size-4" />
      </RailButton>
      <RailButton label={named(t("act.invert"), "I")} isOff={isBusy} onClick={() => onCommand({ do: "invert" })}>
        <Contrast className="size-4" />
      </RailButton>
      <RailButton label={named(t("act.clear"), "Del")} isOff={isBusy} onClick={() => onCommand({ do: "clear" })}>
        <Trash2 className="size-4" />
      </RailButton>
      <span className="lg:mt-auto" />
      <RailButton label={named(t("act.keys"), "?")} className="max-lg:hidden" onClick={() => onCommand({ do: "keys" })}>
        <Keyboard className="size-4" />
      </RailButton>
      <RailButton label={t("act.settings")} isOn={isPanelOpen} onClick={onPanel} className="lg:hidden">
        <SlidersHorizontal className="size-4" />
      </RailButton>
    </div>
  );
}

type RailButtonProps = { label: string; isOn?: boolean; isOff?: boolean; onClick: () => void; className?: string; children: ReactNode };

/** A button without effect stays focusable, and says that it is disabled. */
function RailButton({ label, isOn, isOff = false, onClick, className, children }: RailButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      aria-disabled={isOff || undefined}
      onClick={isOff ? undefined : onClick}
      className={cn(
        "grid size-9 shrink-0 place-items-center max-sm:min-w-6 max-sm:shrink max-sm:grow rounded-md transition-colors duration-100 aria-disabled:opacity-40 lg:size-8",
        isOn ? "bg-ink text-bg" : "text-ink-2 hover:bg-off-soft hover:text-ink",
        className,
      )}
    >
      {children}
    </button>
  );
}

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

export function KeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useTranslations("masks.keys");
  const common = useTranslations("common");
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("title")}
      actions={<Button onClick={onClose}>{common("close")}</Button>}
      className="w-[min(720px,calc(100vw-32px))]"
    >
      <KeyList
        rows={keyList.map(({ act, shown }) => ({ keys: shown, text: t(act) }))}
        className="sm:grid-cols-[auto_minmax(0,1fr)_auto_minmax(0,1fr)]"
      />
    </Dialog>
  );
}
