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
import { type ComponentType, useSyncExternalStore } from "react";
import { cn } from "@/components/ui/cn";
import { Dialog, KeyList } from "@/components/ui/dialog";
import { useNumberFormat } from "@/components/ui/time";
import { type MaskDocument, type MaskState } from "../drawing/mask-document";
import { type Painter, type ViewStore } from "./painter";
import { type Command, shortcuts, type Tool, tools } from "./settings";

type Icon = ComponentType<{ className?: string }>;

const toolIcons: Readonly<Record<Tool, readonly [Icon, key: string]>> = {
  brush: [Brush, "B"],
  eraser: [Eraser, "E"],
  rectangle: [SquareDashed, "R"],
  lasso: [Lasso, "L"],
  fill: [PaintBucket, "G"],
  hand: [Hand, "H"],
};

type ToolRailProps = {
  tool: Tool;
  state: MaskState;
  isPanelOpen: boolean;
  onCommand: (command: Command) => void;
  onPanel: () => void;
};

/** The tools, on the left on wide screens and at the bottom on narrow ones. */
export function ToolRail({ tool, state, isPanelOpen, onCommand, onPanel }: ToolRailProps) {
  const t = useTranslations("masks");
  const { undo, redo, isBusy } = state;
  const actions = [
    ["undo", Undo2, "Ctrl Z", undo ? t("undoOf", { act: t(`step.${undo}`) }) : t("act.undo"), !undo || isBusy],
    ["redo", Redo2, "Ctrl Y", redo ? t("redoOf", { act: t(`step.${redo}`) }) : t("act.redo"), !redo || isBusy],
    ["invert", Contrast, "I", t("act.invert"), isBusy],
    ["clear", Trash2, "Del", t("act.clear"), isBusy],
  ] as const;
  return (
    <div
      role="toolbar"
      aria-label={t("tools")}
      className="flex shrink-0 gap-1 border-line bg-bg p-1.5 max-lg:order-1 max-lg:border-t max-sm:gap-0.5 lg:flex-col lg:border-r"
    >
      {tools.map((value) => (
        <RailButton
          key={value}
          icon={toolIcons[value][0]}
          label={t("toolKey", { name: t(`tool.${value}`), key: toolIcons[value][1] })}
          isOn={tool === value}
          onClick={() => onCommand({ do: "tool", tool: value })}
        />
      ))}
      <span aria-hidden="true" className="shrink-0 bg-line max-lg:mx-0.5 max-lg:w-px lg:my-0.5 lg:h-px" />
      {actions.map(([action, icon, key, name, isDisabled]) => (
        <RailButton
          key={action}
          icon={icon}
          label={t("toolKey", { name, key })}
          isDisabled={isDisabled}
          onClick={() => onCommand({ do: action })}
        />
      ))}
      <span className="lg:mt-auto" />
      <RailButton
        icon={Keyboard}
        label={t("toolKey", { name: t("act.keys"), key: "?" })}
        className="max-lg:hidden"
        onClick={() => onCommand({ do: "keys" })}
      />
      <RailButton icon={SlidersHorizontal} label={t("act.settings")} isOn={isPanelOpen} onClick={onPanel} className="lg:hidden" />
    </div>
  );
}

type RailButtonProps = { icon: Icon; label: string; isOn?: boolean; isDisabled?: boolean; onClick: () => void; className?: string };

/** A disabled button stays focusable and is announced as disabled. */
function RailButton({ icon: Icon, label, isOn, isDisabled = false, onClick, className }: RailButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isOn}
      aria-disabled={isDisabled || undefined}
      onClick={isDisabled ? undefined : onClick}
      className={cn(
        "grid size-9 shrink-0 place-items-center max-sm:min-w-6 max-sm:shrink max-sm:grow rounded-md transition-colors duration-100 aria-disabled:opacity-40 lg:size-8",
        isOn ? "bg-ink text-bg" : "text-ink-2 hover:bg-off-soft hover:text-ink",
        className,
      )}
    >
      <Icon className="size-4" />
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

/** Shows the drawing's state as text, and the zoom. The last edit is also announced to screen readers. */
export function StatusBar({ drawing, state, views, painter, isShown, onCommand }: StatusBarProps) {
  const t = useTranslations("masks");
  const locale = useLocale();
  const formatNumber = useNumberFormat();
  const scale = useSyncExternalStore(views.subscribe, views.getScale, views.getScale);
  const { width, height } = drawing.coverage;
  const zoom = scale.toLocaleString(locale, { style: "percent" });
  const paintedPercent = formatRatio(state.paintedFraction, locale);
  const lastStep = drawing.getLastStep();
  return (
    <div className="flex min-h-9 shrink-0 items-center gap-x-3 overflow-x-auto border-t border-line bg-bg px-2.5 text-sm whitespace-nowrap text-ink-2 tabular-nums">
      <span className="max-sm:hidden">{t("status.size", { width: formatNumber(width), height: formatNumber(height) })}</span>
      <span>{t("status.painted", { share: paintedPercent })}</span>
      {state.isBusy ? <span role="status">{t("status.busy")}</span> : null}
      <CursorPosition painter={painter} />
      <span role="status" className="sr-only">
        {lastStep ? t(`done.${lastStep.direction}`, { act: t(`step.${lastStep.edit}`), share: paintedPercent }) : ""}
      </span>
      <span className="ml-auto flex items-center gap-0.5">
        <BarButton
          icon={isShown ? Eye : EyeOff}
          label={t("panel.shown")}
          letter="M"
          isOn={isShown}
          onClick={() => onCommand({ do: "toggleMask" })}
        />
        <BarButton icon={ZoomOut} label={t("act.zoomOut")} letter="-" onClick={() => onCommand({ do: "zoomOut" })} />
        <button
          type="button"
          title={t("toolKey", { name: t("act.actual"), key: "1" })}
          aria-label={`${t("act.actual")}, ${zoom}`}
          onClick={() => onCommand({ do: "actual" })}
          className="h-8 w-13 rounded-md text-center hover:bg-off-soft hover:text-ink"
        >
          {zoom}
        </button>
        <BarButton icon={ZoomIn} label={t("act.zoomIn")} letter="+" onClick={() => onCommand({ do: "zoomIn" })} />
        <BarButton icon={Maximize} label={t("act.fit")} letter="0" onClick={() => onCommand({ do: "fit" })} />
      </span>
    </div>
  );
}

/** The position of the keyboard cursor, announced when it moves. */
function CursorPosition({ painter }: { painter: Painter }) {
  const t = useTranslations("masks.status");
  const cursor = useSyncExternalStore(painter.subscribe, painter.getCursor, () => undefined);
  return (
    <span aria-live="polite" className="min-w-20">
      {cursor ? t("place", { x: Math.floor(cursor.x), y: Math.floor(cursor.y) }) : ""}
    </span>
  );
}

type BarButtonProps = { icon: Icon; label: string; letter: string; isOn?: boolean; onClick: () => void };

function BarButton({ icon: Icon, label, letter, isOn, onClick }: BarButtonProps) {
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
      <Icon className="size-4" />
    </button>
  );
}

/** Shows 0 % or 100 % only for exact values. */
function formatRatio(ratio: number, locale: string): string {
  const roundedRatio = ratio > 0 && ratio < 0.001 ? 0.001 : ratio < 1 && ratio > 0.999 ? 0.999 : ratio;
  return roundedRatio.toLocaleString(locale, { style: "percent", maximumFractionDigits: 1 });
}

export function KeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const t = useTranslations("masks.keys");
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} actions="close" className="w-[min(720px,calc(100vw-32px))]">
      <KeyList
        rows={shortcuts.map(({ action, labels }) => ({ keys: labels, text: t(action) }))}
        className="sm:grid-cols-[auto_minmax(0,1fr)_auto_minmax(0,1fr)]"
      />
    </Dialog>
  );
}
