import { type PointerEvent, type RefObject, useRef } from "react";
import { useWheel } from "@/components/ui/hooks/use-wheel";
import { type Contact, type Move, nextHands, noHands } from "../input/pointers";
import { type Painter, type Touch } from "./painter";
import { type ViewStore } from "./view-store";

type Parts = { frame: RefObject<HTMLElement | null>; painter: Painter; views: ViewStore; wantsPan: () => boolean };

const WHEEL = 0.0015;
const PINCH = 0.01;

/** Pointer and wheel handlers of the drawing, as props for its frame. */
export function useHands({ frame, painter, views, wantsPan }: Parts) {
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
