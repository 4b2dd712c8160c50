// Decides what each pointer does: a pure function from pointer events to moves of the drawing and the view.
// Guarantees: a pen takes precedence over fingers (a palm's stroke is undone, and once a pen was used one finger moves the picture); two
// fingers pan and zoom; a second finger undoes a stroke that has hardly begun, and ends a longer one where it is.

import { distance, type Point } from "../drawing/geometry";

export type Contact = {
  kind: "down" | "move" | "up" | "cancel";
  id: number;
  device: "mouse" | "pen" | "touch";
  at: Point;
  /** As browsers number them: 0 left, 1 middle, 2 right, 5 the eraser end of a pen. */
  button: number;
  /** The hand tool is active, or Space is held down. */
  wantsPan: boolean;
};

export type Move =
  | { do: "begin"; at: Point; id: number; isEraser: boolean }
  | { do: "extend"; id: number }
  | { do: "end" }
  | { do: "drop" }
  | { do: "pan"; by: Point }
  | { do: "pinch"; at: Point; by: Point; factor: number };

export type Hands = {
  drawing?: { id: number; device: Contact["device"]; from: Point; travelled: number };
  panning?: { id: number; last: Point };
  fingers: ReadonlyMap<number, Point>;
  hasSeenPen: boolean;
};

export const noHands: Hands = { fingers: new Map(), hasSeenPen: false };
/** In screen pixels: a shorter stroke was meant as the first of two fingers. */
const HARDLY_BEGUN = 24;
const ERASER_END = 5;

export function nextHands(hands: Hands, contact: Contact): { hands: Hands; moves: Move[] } {
  if (contact.device === "touch") return ofFinger(hands, contact);
  if (contact.kind === "down") return pressed(hands, contact);
  return followed({ ...hands, hasSeenPen: hands.hasSeenPen || contact.device === "pen" }, contact);
}

function pressed(hands: Hands, { id, device, at, button, wantsPan }: Contact): { hands: Hands; moves: Move[] } {
  const isPen = device === "pen";
  const moves: Move[] = hands.drawing && isPen && hands.drawing.device === "touch" ? [{ do: "drop" }] : [];
  if (hands.drawing && moves.length === 0) return { hands, moves };
  const next: Hands = { fingers: isPen ? new Map() : hands.fingers, hasSeenPen: hands.hasSeenPen || isPen };
  if (button === 1 || (button === 0 && wantsPan)) return { hands: { ...next, panning: { id, last: at } }, moves };
  if (button !== 0 && button !== ERASER_END) return { hands: { ...next, drawing: undefined }, moves };
  const drawing = { id, device, from: at, travelled: 0 };
  return { hands: { ...next, drawing }, moves: [...moves, { do: "begin", at, id, isEraser: button === ERASER_END }] };
}

/** The moves and the end of the pointer that draws or pans. */
function followed(hands: Hands, { kind, id, at }: Contact): { hands: Hands; moves: Move[] } {
  const { drawing, panning } = hands;
  if (panning && panning.id === id) {
    if (kind !== "move") return { hands: { ...hands, panning: undefined }, moves: [] };
    const by = { x: at.x - panning.last.x, y: at.y - panning.last.y };
    return { hands: { ...hands, panning: { id, last: at } }, moves: [{ do: "pan", by }] };
  }
  if (!drawing || drawing.id !== id) return { hands, moves: [] };
  if (kind === "move") {
    const travelled = Math.max(drawing.travelled, distance(drawing.from, at));
    return { hands: { ...hands, drawing: { ...drawing, travelled } }, moves: [{ do: "extend", id }] };
  }
  return { hands: { ...hands, drawing: undefined }, moves: [kind === "up" ? { do: "end" } : { do: "drop" }] };
}

function ofFinger(hands: Hands, contact: Contact): { hands: Hands; moves: Move[] } {
  const { kind, id, at } = contact;
  const { drawing, fingers } = hands;
  // While a pen draws, any other touch is the hand that holds it.
  if (drawing?.device === "pen") return { hands, moves: [] };
  if (kind === "down") return fingerDown(hands, contact);
  if (kind === "move") {
    const before = fingers.get(id);
    if (!before) return followed(hands, contact);
    const other = [...fingers].find(([finger]) => finger !== id)?.[1];
    const moved: Hands = { ...hands, fingers: new Map(fingers).set(id, at) };
    if (!other || fingers.size < 2) return followed(moved, contact);
    const middle = { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 };
    const by = { x: (at.x - before.x) / 2, y: (at.y - before.y) / 2 };
    const factor = Math.max(1, distance(at, other)) / Math.max(1, distance(before, other));
    return { hands: moved, moves: [{ do: "pinch", at: middle, by, factor }] };
  }
  const left = new Map(fingers);
  left.delete(id);
  return followed({ ...hands, fingers: left }, contact);
}

function fingerDown(hands: Hands, { id, at, wantsPan }: Contact): { hands: Hands; moves: Move[] } {
  const fingers = new Map(hands.fingers).set(id, at);
  if (fingers.size === 2) {
    const { drawing } = hands;
    const ended: Move[] = drawing ? [drawing.travelled < HARDLY_BEGUN ? { do: "drop" } : { do: "end" }] : [];
    return { hands: { fingers, hasSeenPen: hands.hasSeenPen }, moves: ended };
  }
  if (fingers.size > 2 || hands.drawing) return { hands: { ...hands, fingers }, moves: [] };
  if (wantsPan || hands.hasSeenPen) return { hands: { ...hands, fingers, panning: { id, last: at } }, moves: [] };
  const drawing = { id, device: "touch" as const, from: at, travelled: 0 };
  return { hands: { ...hands, fingers, drawing }, moves: [{ do: "begin", at, id, isEraser: false }] };
}
