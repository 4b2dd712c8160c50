// The part of the picture in the frame: pixel (0, 0) of the picture is at (x, y) of the frame, and a pixel is `scale` wide.
// Guarantees: some of the picture stays in the frame, however it is zoomed or panned.

import { fitted as fittedInto, pictureScales, type Viewport, zoomed as zoomedAt } from "@/components/ui/hooks/viewport";
import { type Point, type Rect, type Size } from "./geometry";

export type View = Viewport;

const MARGIN = 16;
/** A tiny picture is enlarged up to this scale. */
const LARGEST_FIT = 8;
/** The part of the picture that cannot be pushed out of the frame. */
const LEAST_SEEN = 48;

export function fitted(picture: Size, frame: Size): View {
  return fittedInto(picture, frame, { margin: MARGIN, largest: LARGEST_FIT, scales: { least: 0, most: pictureScales.most } });
}

/** The point under `at` stays there. */
export function zoomed(view: View, factor: number, at: Point, picture: Size, frame: Size): View {
  const least = Math.min(1, fitted(picture, frame).scale) / 2;
  return clamped(zoomedAt(view, factor, at, { least, most: pictureScales.most }), picture, frame);
}

export function panned(view: View, by: Point, picture: Size, frame: Size): View {
  return clamped({ ...view, x: view.x + by.x, y: view.y + by.y }, picture, frame);
}

/** Moves the picture until the point is in the frame; a visible point moves nothing. */
export function revealed(view: View, point: Point, picture: Size, frame: Size): View {
  const at = toFrame(view, point);
  const room = Math.min(40, frame.width / 4, frame.height / 4);
  const shift = (place: number, edge: number) => (place < room ? room - place : place > edge - room ? edge - room - place : 0);
  const by = { x: shift(at.x, frame.width), y: shift(at.y, frame.height) };
  return by.x === 0 && by.y === 0 ? view : panned(view, by, picture, frame);
}

export function toPicture({ x, y, scale }: View, at: Point): Point {
  return { x: (at.x - x) / scale, y: (at.y - y) / scale };
}

export function toFrame({ x, y, scale }: View, point: Point): Point {
  return { x: point.x * scale + x, y: point.y * scale + y };
}

export function rectToFrame({ x, y, scale }: View, rect: Rect): Rect {
  return { left: rect.left * scale + x, top: rect.top * scale + y, right: rect.right * scale + x, bottom: rect.bottom * scale + y };
}

function clamped(view: View, picture: Size, frame: Size): View {
  const hold = (place: number, length: number, edge: number) => {
    const seen = Math.min(LEAST_SEEN, length, edge);
    return Math.min(edge - seen, Math.max(seen - length, place));
  };
  return {
    scale: view.scale,
    x: hold(view.x, picture.width * view.scale, frame.width),
    y: hold(view.y, picture.height * view.scale, frame.height),
  };
}
