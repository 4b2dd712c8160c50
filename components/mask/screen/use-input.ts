import { type PointerEvent, type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { isComposing, isTyping } from "@/components/ui/hooks/page-keys";
import { useWheel } from "@/components/ui/hooks/use-pan-zoom";
import { type Command, commandOf, isForCanvas } from "../input/keys";
import { type Contact, type Move, nextHands, noHands } from "../input/pointers";
import { type Painter, type Touch } from "./painter";
import { type ViewStore } from "./view-store";

type Parts = {
  root: RefObject<HTMLElement | null>;
  frame: RefObject<HTMLElement | null>;
  painter: Painter;
  /** False if it did nothing, so that others may handle the key. */
  onCommand: (command: Command) => boolean;
};

/** The editor's keys, except in text fields; drawing keys need the focus on the drawing. Returns whether Space is held to pan. */
export function useEditorKeys({ root, frame, painter, onCommand }: Parts): () => boolean {
  const isSpaceDown = useRef(false);
  const onDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event) || !isHere(event.target, root.current)) return;
    const command = commandOf(event);
    if (!command || (isTyping(event.target) && command.do !== "save")) return;
    const isOnCanvas = event.target === frame.current;
    if (isForCanvas(command) && !isOnCanvas && event.target !== document.body) return;
    if (command.do === "press") {
      event.preventDefault();
      if (!event.repeat && !(isOnCanvas && painter.press())) isSpaceDown.current = true;
    } else if (onCommand(command)) event.preventDefault();
  });
  const onUp = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== " ") return;
    isSpaceDown.current = false;
    painter.lift();
  });
  useEffect(() => {
    const down = (event: KeyboardEvent) => onDown(event);
    const up = (event: KeyboardEvent) => onUp(event);
    const away = () => {
      isSpaceDown.current = false;
    };
    // Runs before the page's own keys: `?` and the arrows mean something else here.
    window.addEventListener("keydown", down, { capture: true });
    window.addEventListener("keyup", up);
    window.addEventListener("blur", away);
    return () => {
      window.removeEventListener("keydown", down, { capture: true });
      window.removeEventListener("keyup", up);
      window.removeEventListener("blur", away);
    };
  }, []);
  return () => isSpaceDown.current;
}

/** False under another dialog, or while a dialog lies over the editor. */
function isHere(target: EventTarget | null, root: HTMLElement | null): boolean {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (top && !top.contains(root)) return false;
  return target === document.body || (target instanceof Node && root !== null && root.contains(target));
}

type HandParts = { frame: RefObject<HTMLElement | null>; painter: Painter; views: ViewStore; wantsPan: () => boolean };

const WHEEL = 0.0015;
const PINCH = 0.01;

/** Pointer and wheel handlers of the drawing, as props for its frame. */
export function useHands({ frame, painter, views, wantsPan }: HandParts) {
  const hands = useRef(noHands);

  const placeOf = ({ clientX, clientY }: { clientX: number; clientY: number }) => {
    const box = frame.current?.getBoundingClientRect();
    return { x: clientX - (box?.left ?? 0), y: clientY - (box?.top ?? 0) };
  };
  const touchOf = (event: globalThis.PointerEvent): Touch => ({
    ...placeOf(event),
    // Only a pen reports real pressure, at its first touch perhaps 0. A mouse reports 0.5, and most touch screens report nothing useful.
    pressure: event.pointerType === "pen" ? event.pressure : 1,
  });

  function perform(move: Move, event: PointerEvent): void {
    const native = event.nativeEvent;
    if (move.do === "begin") painter.begin(touchOf(native), move.isEraser);
    else if (move.do === "extend") {
      // Between two frames a pen reports many points: all of them are drawn.
      const all = native.getCoalescedEvents?.() ?? [];
      painter.extend((all.length > 0 ? all : [native]).map(touchOf));
    } else if (move.do === "end") painter.end();
    else if (move.do === "drop") painter.drop();
    else if (move.do === "pan") views.pan(move.by);
    else {
      views.pan(move.by);
      views.zoom(move.factor, move.at);
    }
  }

  function follow(kind: Contact["kind"], event: PointerEvent): void {
    const { pointerType, pointerId, button } = event;
    const device = pointerType === "pen" || pointerType === "touch" ? pointerType : "mouse";
    const contact: Contact = { kind, id: pointerId, device, at: placeOf(event), button, wantsPan: wantsPan() };
    const next = nextHands(hands.current, contact);
    hands.current = next.hands;
    for (const move of next.moves) perform(move, event);
    if (kind === "move" && !next.hands.drawing && device !== "touch") painter.hover(contact.at);
  }

  useWheel(frame, (event) => {
    event.preventDefault();
    if (event.shiftKey && !event.ctrlKey) return views.pan({ x: -(event.deltaX || event.deltaY), y: 0 });
    views.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? PINCH : WHEEL)), placeOf(event));
  });

  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      event.currentTarget.setPointerCapture?.(event.pointerId);
      event.currentTarget.focus({ preventScroll: true });
      follow("down", event);
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => follow("move", event),
    onPointerUp: (event: PointerEvent<HTMLElement>) => follow("up", event),
    onPointerCancel: (event: PointerEvent<HTMLElement>) => follow("cancel", event),
    onPointerLeave: () => painter.hover(undefined),
    onContextMenu: (event: { preventDefault: () => void }) => event.preventDefault(),
  };
}
