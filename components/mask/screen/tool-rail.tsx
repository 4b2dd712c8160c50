import {
  Brush,
  Contrast,
  Eraser,
  Hand,
  Keyboard,
  Lasso,
  PaintBucket,
  Redo2,
  SlidersHorizontal,
  SquareDashed,
  Trash2,
  Undo2,
} from "lucide-react";
import { useTranslations } from "next-intl";
import { type ComponentType, type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { type MaskState } from "../drawing/mask-document";
import { type Command, type Tool, tools } from "../input/keys";

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
