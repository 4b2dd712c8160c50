// Whether rows wait because the list flies past: nothing is read then, and on a slow machine each row that is made costs the frames by which
// the list is seen to move. What flies past shows its words, and is whole once the list slows down.
// Where frames come in time all the same, nothing waits.

/** Rows a second; faster than this a screen has gone in half a second. */
const FLYING = 40;
/** More than one frame of sixty a second has been missed. */
const LATE_MS = 25;
/** A wheel moves the list in steps: it is slow only when it has been so for a while. */
const SETTLED_MS = 120;
/** Frames further apart than this are not of one movement. */
const APART_MS = 500;

export function createFlight() {
  let last: { atMs: number; place: number } | undefined;
  let flewAtMs = -Infinity;
  let isBurdened = false;
  let hasMade = false;
  return {
    /** Once a frame, with the place in the list at the screen's upper edge, in rows and parts of them: whether rows wait. */
    isOn(atMs: number, place: number): boolean {
      const gapMs = last ? atMs - last.atMs : APART_MS;
      const isOneMove = gapMs > 0 && gapMs < APART_MS;
      if (isOneMove && last && (Math.abs(place - last.place) * 1000) / gapMs > FLYING) flewAtMs = atMs;
      last = { atMs, place };
      const isFlying = atMs - flewAtMs < SETTLED_MS;
      isBurdened = isFlying && (isBurdened || (hasMade && isOneMove && gapMs > LATE_MS));
      hasMade = false;
      return isBurdened;
    },
    /** Rows were made in this frame: the next one tells what they cost. */
    made(): void {
      hasMade = true;
    },
  };
}

export type Flight = ReturnType<typeof createFlight>;
