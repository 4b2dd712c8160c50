import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState, useSyncExternalStore } from "react";
import { useDenialText } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { useCloseWarning } from "@/components/ui/hooks/page-events";
import { createRectangle } from "./drawing/areas";
import { getSaveStep, type OpenSession, type SavedMask, type SavePorts, useSave } from "./file/mask-session";
import { KeyDialog, StatusBar, ToolRail } from "./screen/editor-bars";
import { createPainter, createViewStore, type Painter, subscribeToDeviceRatio, type ViewStore } from "./screen/painter";
import { SaveOutcome, SaveProgress } from "./screen/save-outcome";
import { type Command, createSettingsStore, overlayRgb, type Settings } from "./screen/settings";
import { SettingsPanel } from "./screen/settings-panel";
import { createSurface, type Surface } from "./screen/surface";
import { useEditorKeys, usePointers } from "./screen/use-input";

export type MaskEditorProps = {
  session: OpenSession;
  title: string;
  /** The breadcrumbs: "Assets / photo.png /". */
  trail?: ReactNode;
  connection?: string;
  canSave: boolean;
  ports: SavePorts;
  /** A note about the initial mask, shown once above the drawing. */
  note?: string;
  /** Receives the saved mask. If absent, the editor shows the result. */
  onSaved?: (mask: SavedMask) => void;
  onClose?: () => void;
};

export function MaskEditor({ session, title, trail, connection, canSave, ports, note, onSaved, onClose }: MaskEditorProps) {
  const t = useTranslations("masks");
  const common = useTranslations("common");
  const getDenialText = useDenialText();
  const { drawing } = session;
  const { width, height } = drawing.coverage;
  const state = useSyncExternalStore(drawing.subscribe, drawing.getState, drawing.getState);
  const [size] = useState(() => ({ width, height }));
  const [{ subscribe, get, change }] = useState(() => createSettingsStore(size));
  const settings = useSyncExternalStore(subscribe, get, get);
  const root = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [views] = useState(() => createViewStore(size));
  const [painter] = useState(() => createPainter({ drawing, views, settings: get }));
  const [isPanelOpen, setPanelOpen] = useState(false);
  const [isKeyDialogOpen, setKeyDialogOpen] = useState(false);
  const saveTask = useSave(session, ports, onSaved);

  useEffect(() => frame.current?.focus({ preventScroll: true }), []);
  useCloseWarning(state.isUnsaved);

  function runCommand(command: Command): boolean {
    if (command.do === "release") {
      const hadStroke = painter.drop() || painter.getCursor() !== undefined;
      painter.hideCursor();
      return hadStroke;
    }
    handlers[command.do](command);
    return true;
  }
  const handlers: Record<Command["do"], (command: Command) => void> = {
    tool: (command) => command.do === "tool" && change({ tool: command.tool }),
    size: (command) => command.do === "size" && change({ sizeBy: command.by }),
    hardness: (command) => command.do === "hardness" && change({ hardnessBy: command.by }),
    cursor: (command) => command.do === "cursor" && painter.moveCursor(command),
    swap: () => change("swap"),
    look: () => change("nextLook"),
    toggleMask: () => change({ isShown: !settings.isShown }),
    undo: () => void drawing.undo(),
    redo: () => void drawing.redo(),
    invert: () => void drawing.invert(),
    clear: () => void drawing.clear(),
    save: () => void (canSave && saveTask.save()),
    fit: views.fit,
    actual: views.showActualSize,
    zoomIn: views.zoomIn,
    zoomOut: views.zoomOut,
    keys: () => setKeyDialogOpen(true),
    press: () => undefined,
    stick: painter.toggleDrawing,
    release: () => undefined,
  };
  const isSpaceDown = useEditorKeys({ root, frame, painter, onCommand: runCommand });
  const step = getSaveStep(saveTask.state);
  const isSaving = step !== undefined;

  return (
    <div ref={root} className="flex min-h-0 flex-1 flex-col bg-bg max-md:fixed max-md:inset-0 max-md:z-40 md:h-[calc(100*var(--dvh))]">
      <PageHeader trail={trail} title={<span className="break-all">{title}</span>}>
        <span className="text-ink-3 max-sm:sr-only">{state.isUnsaved ? t("status.unsaved") : state.undo ? t("status.saved") : null}</span>
        {step ? <SaveProgress step={step} onStop={saveTask.stop} /> : null}
        {onClose ? <Button onClick={onClose}>{common("close")}</Button> : null}
        {canSave ? (
          <Button
            tone="primary"
            className={isSaving ? "max-sm:hidden" : undefined}
            title={t("toolKey", { name: t("act.save"), key: "Ctrl S" })}
            busy={isSaving || state.isBusy}
            onClick={() => void saveTask.save()}
          >
            {isSaving ? t("act.saving") : t("act.save")}
          </Button>
        ) : (
          <span className="text-ink-2">{getDenialText(t("save.viewer"))}</span>
        )}
      </PageHeader>
      <div className="flex min-h-0 flex-1 max-lg:flex-col">
        <ToolRail
          tool={settings.tool}
          state={state}
          isPanelOpen={isPanelOpen}
          onCommand={runCommand}
          onPanel={() => setPanelOpen((open) => !open)}
        />
        <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
          {note ? (
            <p role="status" className="shrink-0 border-b border-line bg-off-soft px-3.5 py-1.5 text-ink-2">
              {note}
            </p>
          ) : null}
          <div className="relative flex min-h-0 flex-1">
            <MaskCanvas
              frame={frame}
              title={title}
              session={session}
              views={views}
              painter={painter}
              settings={settings}
              wantsPan={() => settings.tool === "hand" || isSpaceDown()}
            />
            <SaveOutcome
              state={onSaved && saveTask.state.kind === "saved" ? { kind: "idle" } : saveTask.state}
              connection={connection}
              onRetry={() => void saveTask.save()}
              onDismiss={saveTask.dismiss}
            />
          </div>
          <StatusBar drawing={drawing} state={state} views={views} painter={painter} isShown={settings.isShown} onCommand={runCommand} />
        </div>
        <SettingsPanel
          size={size}
          settings={settings}
          isBusy={state.isBusy}
          isOpen={isPanelOpen}
          onChange={change}
          onRectangle={(rect, isErasing) => void drawing.drawShape("rectangle", createRectangle(size, rect), isErasing)}
        />
      </div>
      <KeyDialog isOpen={isKeyDialogOpen} onClose={() => setKeyDialogOpen(false)} />
    </div>
  );
}

type MaskCanvasProps = {
  frame: RefObject<HTMLDivElement | null>;
  title: string;
  session: OpenSession;
  views: ViewStore;
  painter: Painter;
  settings: Settings;
  wantsPan: () => boolean;
};

/** The drawing area. The status bar describes its state as text. */
function MaskCanvas({ frame, title, session, views, painter, settings, wantsPan }: MaskCanvasProps) {
  const t = useTranslations("masks");
  const helpId = useId();
  const picture = useRef<HTMLCanvasElement>(null);
  const mask = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const surface = useRef<Surface>(undefined);
  const pointerHandlers = usePointers({ frame, painter, views, wantsPan });
  const { look, colour, opacity, isShown, tool } = settings;
  const isDark = useTheme().resolvedTheme === "dark";

  useEffect(() => {
    const element = frame.current;
    if (!element || !picture.current || !mask.current || !marks.current) return;
    const newSurface = createSurface(
      { picture: picture.current, mask: mask.current, marks: marks.current },
      session.drawing,
      views,
      session.mask.picture,
    );
    surface.current = newSurface;
    const resize = () => views.resize({ width: element.clientWidth, height: element.clientHeight });
    resize();
    const observer = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(resize);
    observer?.observe(element);
    const unsubscribeRatio = subscribeToDeviceRatio(resize);
    const unsubscribeMarks = painter.subscribe(() => newSurface?.setMarks(painter.getMarks()));
    return () => {
      unsubscribeMarks();
      unsubscribeRatio();
      observer?.disconnect();
      newSurface?.close();
      surface.current = undefined;
    };
  }, [frame, session, views, painter]);

  useEffect(() => surface.current?.setMarks(painter.getMarks()), [painter, settings]);
  useEffect(() => {
    if (look === "overlay") surface.current?.setLook({ kind: "overlay", colour: overlayRgb[colour] });
    else if (look === "mask") surface.current?.setLook({ kind: "mask" });
    else surface.current?.setLook({ kind: "result", board: isDark ? [36, 56] : [255, 222] });
  }, [session, look, colour, isDark]);

  return (
    <div
      ref={frame}
      role="application"
      tabIndex={0}
      aria-label={t("canvas", { name: title })}
      aria-describedby={helpId}
      {...pointerHandlers}
      onFocus={({ currentTarget }) => {
        // Keyboard users need to see where they would draw.
        if (currentTarget.matches(":focus-visible")) painter.showCursor();
      }}
      onBlur={painter.hideCursor}
      className={cn(
        "relative min-h-0 min-w-0 flex-1 touch-none overflow-hidden bg-sunken outline-offset-[-2px] select-none",
        tool === "hand" ? "cursor-grab" : tool === "brush" || tool === "eraser" ? "cursor-none" : "cursor-crosshair",
      )}
    >
      <span id={helpId} className="sr-only">
        {t("canvasHelp")}
      </span>
      <canvas ref={picture} aria-hidden="true" className="absolute inset-0 size-full" />
      <canvas
        ref={mask}
        aria-hidden="true"
        style={{ opacity: look === "overlay" ? opacity : 1 }}
        className={cn("absolute inset-0 size-full", !isShown && "invisible")}
      />
      <canvas ref={marks} aria-hidden="true" className="absolute inset-0 size-full" />
    </div>
  );
}
