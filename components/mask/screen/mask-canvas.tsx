import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { type ReactNode, type RefObject, useEffect, useId, useRef } from "react";
import { cn } from "@/components/ui/cn";
import { type OpenSession } from "../file/mask-session";
import { type Painter } from "./painter";
import { rgbOf, type Settings } from "./settings";
import { createSurface, type Surface } from "./surface";
import { useHands } from "./use-input";
import { type ViewStore, watchRatio } from "./view-store";

type MaskCanvasProps = {
  frame: RefObject<HTMLDivElement | null>;
  title: string;
  session: OpenSession;
  views: ViewStore;
  painter: Painter;
  settings: Settings;
  wantsPan: () => boolean;
  children?: ReactNode;
};

/** The drawing area. The canvases only show the drawing; the bar below describes it in words. */
export function MaskCanvas({ frame, title, session, views, painter, settings, wantsPan, children }: MaskCanvasProps) {
  const t = useTranslations("masks");
  const help = useId();
  const picture = useRef<HTMLCanvasElement>(null);
  const mask = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const surface = useRef<Surface>(undefined);
  const hands = useHands({ frame, painter, views, wantsPan });
  const { look, colour, opacity, isShown, tool } = settings;
  const isDark = useTheme().resolvedTheme === "dark";

  useEffect(() => {
    const element = frame.current;
    if (!element || !picture.current || !mask.current || !marks.current) return;
    const made = createSurface(
      { picture: picture.current, mask: mask.current, marks: marks.current },
      session.drawing,
      views,
      session.opened.picture,
    );
    surface.current = made;
    const fit = () => views.resize({ width: element.clientWidth, height: element.clientHeight });
    fit();
    const observer = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(fit);
    observer?.observe(element);
    const stopRatio = watchRatio(fit);
    const stopMarks = painter.subscribe(() => made?.setMarks(painter.marks()));
    return () => {
      stopMarks();
      stopRatio();
      observer?.disconnect();
      made?.close();
      surface.current = undefined;
    };
  }, [frame, session, views, painter]);

  useEffect(() => surface.current?.setMarks(painter.marks()), [painter, settings]);
  useEffect(() => {
    if (look === "overlay") surface.current?.setLook({ kind: "overlay", colour: rgbOf[colour] });
    else if (look === "mask") surface.current?.setLook({ kind: "mask" });
    else surface.current?.setLook({ kind: "result", board: isDark ? [36, 56] : [255, 222] });
  }, [session, look, colour, isDark]);

  return (
    <div
      ref={frame}
      role="application"
      tabIndex={0}
      aria-label={t("canvas", { name: title })}
      aria-describedby={help}
      {...hands}
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
      <span id={help} className="sr-only">
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
      {children}
    </div>
  );
}
