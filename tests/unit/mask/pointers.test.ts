// Mouse, pen, fingers and a resting palm: the effect of each sequence of contacts.
import { describe, expect, it } from "vitest";
import { type Contact, type Move, nextHands, noHands } from "@/components/mask/input/pointers";

type Short = Partial<Contact> & { kind: Contact["kind"]; at?: { x: number; y: number } };

/** The resulting actions in short: what happens, and to which pointer. */
function play(...contacts: Short[]): string[] {
  let hands = noHands;
  const all: Move[] = [];
  for (const contact of contacts) {
    const next = nextHands(hands, { id: 1, device: "mouse", button: 0, wantsPan: false, at: { x: 0, y: 0 }, ...contact });
    hands = next.hands;
    all.push(...next.moves);
  }
  return all.map((move) => ("id" in move ? `${move.do} ${move.id}` : move.do));
}
const finger = (kind: Contact["kind"], id: number, x = 0, y = 0): Short => ({ kind, id, device: "touch", at: { x, y } });
const pen = (kind: Contact["kind"], x = 0, y = 0, button = 0): Short => ({ kind, id: 9, device: "pen", at: { x, y }, button });

describe("a mouse", () => {
  it("draws with its left button, from press to release", () => {
    expect(play({ kind: "move" }, { kind: "down" }, { kind: "move", at: { x: 5, y: 0 } }, { kind: "up" }, { kind: "move" })).toEqual([
      "begin 1",
      "extend 1",
      "end",
    ]);
  });

  it("moves the picture with its middle button, or while Space or the hand tool is held", () => {
    expect(play({ kind: "down", button: 1 }, { kind: "move", at: { x: 5, y: 5 } }, { kind: "up" })).toEqual(["pan"]);
    expect(play({ kind: "down", wantsPan: true }, { kind: "move" }, { kind: "up" })).toEqual(["pan"]);
  });

  it("does nothing with its right button, and drops what the system takes away", () => {
    expect(play({ kind: "down", button: 2 }, { kind: "move" }, { kind: "up" })).toEqual([]);
    expect(play({ kind: "down" }, { kind: "move" }, { kind: "cancel" })).toEqual(["begin 1", "extend 1", "drop"]);
  });
});

describe("fingers", () => {
  it("one draws, two move and zoom, and the stroke that the first had hardly begun is taken back", () => {
    expect(
      play(
        finger("down", 1),
        finger("move", 1, 4),
        finger("down", 2, 100),
        finger("move", 2, 140),
        finger("up", 1),
        finger("move", 2, 150),
      ),
    ).toEqual(["begin 1", "extend 1", "drop", "pinch"]);
  });

  it("a second one that comes late ends the stroke instead", () => {
    expect(play(finger("down", 1), finger("move", 1, 90), finger("down", 2, 200))).toEqual(["begin 1", "extend 1", "end"]);
  });

  it("apart is larger, and the middle stays", () => {
    let { hands } = nextHands(noHands, { ...base, id: 1, kind: "down", at: { x: 0, y: 0 } });
    hands = nextHands(hands, { ...base, id: 2, kind: "down", at: { x: 100, y: 0 } }).hands;
    expect(nextHands(hands, { ...base, id: 2, kind: "move", at: { x: 200, y: 0 } }).moves).toEqual([
      { do: "pinch", at: { x: 100, y: 0 }, by: { x: 50, y: 0 }, factor: 2 },
    ]);
  });
  const base = { device: "touch", button: 0, wantsPan: false } as const;
});

describe("a pen", () => {
  it("wins over the palm that came first: what the palm drew is taken back", () => {
    expect(
      play(finger("down", 1), finger("move", 1, 40), pen("down"), finger("move", 1, 80), pen("move", 3), finger("up", 1), pen("up")),
    ).toEqual(["begin 1", "extend 1", "drop", "begin 9", "extend 9", "end"]);
  });

  it("is not disturbed by the hand that rests beside it", () => {
    expect(play(pen("down"), finger("down", 1), finger("down", 2, 50), finger("move", 2, 90), pen("move", 5), pen("up"))).toEqual([
      "begin 9",
      "extend 9",
      "end",
    ]);
  });

  it("leaves one finger to move the picture from then on", () => {
    expect(play(pen("down"), pen("up"), finger("down", 1), finger("move", 1, 30), finger("up", 1))).toEqual(["begin 9", "end", "pan"]);
  });

  it("erases with its other end", () => {
    const { moves } = nextHands(noHands, { kind: "down", id: 9, device: "pen", button: 5, at: { x: 1, y: 2 }, wantsPan: false });
    expect(moves).toEqual([{ do: "begin", at: { x: 1, y: 2 }, id: 9, isEraser: true }]);
  });
});
