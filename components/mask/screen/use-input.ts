import { type PointerEvent, type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { isComposing, isTyping } from "@/components/ui/hooks/page-events";
import { useWheel } from "@/components/ui/hooks/use-pan-zoom";
import { getDistance, type Point } from "../drawing/coverage";
import { type Painter, type Touch, type ViewStore } from "./painter";
import { type Command, isForCanvas, toCommand } from "./settings";

type EditorKeyOptions = {
  root: RefObject<HTMLElement | null>;
  frame: RefObject<HTMLElement | null>;
  painter: Painter;
  /** Returns false if it did nothing, so that other handlers may use the key. */
  onCommand: (command: Command) => boolean;
};

/** Handles the editor's keys, except in text fields. Drawing keys require focus on the drawing. Returns a function that checks whether Space is held. */
export function useEditorKeys({ root, frame, painter, onCommand }: EditorKeyOptions): () => boolean {
  const isSpaceDown = useRef(false);
  const handleKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event) || !isOnTop(event.target, root.current)) return;
    const command = toCommand(event);
    if (!command || (isTyping(event.target) && command.do !== "save")) return;
    const isOnCanvas = event.target === frame.current;
    if (isForCanvas(command) && !isOnCanvas && event.target !== document.body) return;
    if (command.do === "press") {
      event.preventDefault();
      if (!event.repeat && !(isOnCanvas && painter.press())) isSpaceDown.current = true;
    } else if (onCommand(command)) event.preventDefault();
  });
  const handleKeyUp = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== " ") return;
    isSpaceDown.current = false;
    painter.release();
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => handleKeyDown(event);
    const onKeyUp = (event: KeyboardEvent) => handleKeyUp(event);
    const onBlur = () => {
      isSpaceDown.current = false;
    };
    // Runs before the page's own shortcuts, since `?` and the arrows have other meanings here.
    window.addEventListener("keydown", onKeyDown, { capture: true });
    window.addEventListener("keyup", onKeyUp);
    window.addEventListener("blur", onBlur);
    return () => {
      window.removeEventListener("keydown", onKeyDown, { capture: true });
      window.removeEventListener("keyup", onKeyUp);
      window.removeEventListener("blur", onBlur);
    };
  }, []);
  return () => isSpaceDown.current;
}

/** False while a dialog covers the editor. */
function isOnTop(target: EventTarget | null, root: HTMLElement | null): boolean {
  const topDialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (topDialog && !topDialog.contains(root)) return false;
  return target === document.body || (target instanceof Node && root !== null && root.contains(target));
}

type PointerOptions = { frame: RefObject<HTMLElement | null>; painter: Painter; views: ViewStore; wantsPan: () => boolean };

const WHEEL_ZOOM_SPEED = 0.0015;
const PINCH_ZOOM_SPEED = 0.01;

/** Returns the pointer handlers of the drawing as props for its frame, and handles the wheel. */
export function usePointers({ frame, painter, views, wantsPan }: PointerOptions) {
  const pointers = useRef(noPointers);

  const toFramePoint = ({ clientX, clientY }: { clientX: number; clientY: number }) => {
    const box = frame.current?.getBoundingClientRect();
    return { x: clientX - (box?.left ?? 0), y: clientY - (box?.top ?? 0) };
  };
  const toTouch = (event: globalThis.PointerEvent): Touch => ({
    ...toFramePoint(event),
    // Only pens report real pressure, which may initially be 0.
    pressure: event.pointerType === "pen" ? event.pressure : 1,
  });

  function applyMove(move: Move, event: PointerEvent): void {
    const { nativeEvent } = event;
    if (move.do === "begin") painter.start(toTouch(nativeEvent), move.isEraser);
    else if (move.do === "extend") {
      // A pen reports many points between two frames, and all of them are drawn.
      const coalescedEvents = nativeEvent.getCoalescedEvents?.() ?? [];
      painter.extend((coalescedEvents.length > 0 ? coalescedEvents : [nativeEvent]).map(toTouch));
    } else if (move.do === "end") painter.end();
    else if (move.do === "drop") painter.drop();
    else if (move.do === "pan") views.pan(move.by);
    else {
      views.pan(move.by);
      views.zoom(move.factor, move.at);
    }
  }

  function handlePointer(kind: Contact["kind"], event: PointerEvent): void {
    const { pointerType, pointerId, button } = event;
    const device = pointerType === "pen" || pointerType === "touch" ? pointerType : "mouse";
    const contact: Contact = { kind, id: pointerId, device, at: toFramePoint(event), button, wantsPan: wantsPan() };
    const result = handleContact(pointers.current, contact);
    pointers.current = result.pointers;
    for (const move of result.moves) applyMove(move, event);
    if (kind === "move" && !result.pointers.drawing && device !== "touch") painter.hover(contact.at);
  }

  useWheel(frame, (event) => {
    event.preventDefault();
    if (event.shiftKey && !event.ctrlKey) return views.pan({ x: -(event.deltaX || event.deltaY), y: 0 });
    views.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? PINCH_ZOOM_SPEED : WHEEL_ZOOM_SPEED)), toFramePoint(event));
  });

  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      event.currentTarget.setPointerCapture?.(event.pointerId);
      event.currentTarget.focus({ preventScroll: true });
      handlePointer("down", event);
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => handlePointer("move", event),
    onPointerUp: (event: PointerEvent<HTMLElement>) => handlePointer("up", event),
    onPointerCancel: (event: PointerEvent<HTMLElement>) => handlePointer("cancel", event),
    onPointerLeave: () => painter.hover(undefined),
    onContextMenu: (event: { preventDefault: () => void }) => event.preventDefault(),
  };
}

// Converts pointer events to moves of the drawing and the view. Has no side effects.
// Guarantees: a pen takes precedence over fingers, so a palm's stroke is cancelled. Once a pen was used, a single finger pans. Two fingers
// pan and zoom. A second finger cancels a short stroke and ends a longer one.

export type Contact = {
  kind: "down" | "move" | "up" | "cancel";
  id: number;
  device: "mouse" | "pen" | "touch";
  at: Point;
  /** Browser button numbers: 0 left, 1 middle, 2 right, 5 the pen's eraser end. */
  button: number;
  /** Whether the hand tool is active or Space is held down. */
  wantsPan: boolean;
};

export type Move =
  | { do: "begin"; at: Point; id: number; isEraser: boolean }
  | { do: "extend"; id: number }
  | { do: "end" }
  | { do: "drop" }
  | { do: "pan"; by: Point }
  | { do: "pinch"; at: Point; by: Point; factor: number };

export type Pointers = {
  drawing?: { id: number; device: Contact["device"]; from: Point; travelled: number };
  panning?: { id: number; last: Point };
  fingers: ReadonlyMap<number, Point>;
  hasUsedPen: boolean;
};

export const noPointers: Pointers = { fingers: new Map(), hasUsedPen: false };
/** Shorter touch strokes, in screen pixels, are treated as the first of two fingers. */
const MIN_STROKE_PX = 24;
const ERASER_END = 5;

export function handleContact(pointers: Pointers, contact: Contact): { pointers: Pointers; moves: Move[] } {
  if (contact.device === "touch") return handleFinger(pointers, contact);
  if (contact.kind === "down") return handlePress(pointers, contact);
  return handleMove({ ...pointers, hasUsedPen: pointers.hasUsedPen || contact.device === "pen" }, contact);
}

function handlePress(pointers: Pointers, { id, device, at, button, wantsPan }: Contact): { pointers: Pointers; moves: Move[] } {
  const isPen = device === "pen";
  const moves: Move[] = pointers.drawing && isPen && pointers.drawing.device === "touch" ? [{ do: "drop" }] : [];
  if (pointers.drawing && moves.length === 0) return { pointers, moves };
  const nextPointers: Pointers = { fingers: isPen ? new Map() : pointers.fingers, hasUsedPen: pointers.hasUsedPen || isPen };
  if (button === 1 || (button === 0 && wantsPan)) return { pointers: { ...nextPointers, panning: { id, last: at } }, moves };
  if (button !== 0 && button !== ERASER_END) return { pointers: { ...nextPointers, drawing: undefined }, moves };
  const drawing = { id, device, from: at, travelled: 0 };
  return { pointers: { ...nextPointers, drawing }, moves: [...moves, { do: "begin", at, id, isEraser: button === ERASER_END }] };
}

/** Handles the moves and the end of the pointer that draws or pans. */
function handleMove(pointers: Pointers, { kind, id, at }: Contact): { pointers: Pointers; moves: Move[] } {
  const { drawing, panning } = pointers;
  if (panning && panning.id === id) {
    if (kind !== "move") return { pointers: { ...pointers, panning: undefined }, moves: [] };
    const offset = { x: at.x - panning.last.x, y: at.y - panning.last.y };
    return { pointers: { ...pointers, panning: { id, last: at } }, moves: [{ do: "pan", by: offset }] };
  }
  if (!drawing || drawing.id !== id) return { pointers, moves: [] };
  if (kind === "move") {
    const travelled = Math.max(drawing.travelled, getDistance(drawing.from, at));
    return { pointers: { ...pointers, drawing: { ...drawing, travelled } }, moves: [{ do: "extend", id }] };
  }
  return { pointers: { ...pointers, drawing: undefined }, moves: [kind === "up" ? { do: "end" } : { do: "drop" }] };
}

function handleFinger(pointers: Pointers, contact: Contact): { pointers: Pointers; moves: Move[] } {
  const { kind, id, at } = contact;
  const { drawing, fingers } = pointers;
  // Ignores touches while a pen draws, since they come from the hand that holds it.
  if (drawing?.device === "pen") return { pointers, moves: [] };
  if (kind === "down") return handleFingerDown(pointers, contact);
  if (kind === "move") {
    const previousPoint = fingers.get(id);
    if (!previousPoint) return handleMove(pointers, contact);
    const otherPoint = [...fingers].find(([finger]) => finger !== id)?.[1];
    const movedPointers: Pointers = { ...pointers, fingers: new Map(fingers).set(id, at) };
    if (!otherPoint || fingers.size < 2) return handleMove(movedPointers, contact);
    const midpoint = { x: (at.x + otherPoint.x) / 2, y: (at.y + otherPoint.y) / 2 };
    const offset = { x: (at.x - previousPoint.x) / 2, y: (at.y - previousPoint.y) / 2 };
    const factor = Math.max(1, getDistance(at, otherPoint)) / Math.max(1, getDistance(previousPoint, otherPoint));
    return { pointers: movedPointers, moves: [{ do: "pinch", at: midpoint, by: offset, factor }] };
  }
  const remainingFingers = new Map(fingers);
  remainingFingers.delete(id);
  return handleMove({ ...pointers, fingers: remainingFingers }, contact);
}

function handleFingerDown(pointers: Pointers, { id, at, wantsPan }: Contact): { pointers: Pointers; moves: Move[] } {
  const fingers = new Map(pointers.fingers).set(id, at);
  if (fingers.size === 2) {
    const { drawing } = pointers;
    const moves: Move[] = drawing ? [drawing.travelled < MIN_STROKE_PX ? { do: "drop" } : { do: "end" }] : [];
    return { pointers: { fingers, hasUsedPen: pointers.hasUsedPen }, moves };
  }
  if (fingers.size > 2 || pointers.drawing) return { pointers: { ...pointers, fingers }, moves: [] };
  if (wantsPan || pointers.hasUsedPen) return { pointers: { ...pointers, fingers, panning: { id, last: at } }, moves: [] };
  const drawing = { id, device: "touch" as const, from: at, travelled: 0 };
  return { pointers: { ...pointers, fingers, drawing }, moves: [{ do: "begin", at, id, isEraser: false }] };
}
