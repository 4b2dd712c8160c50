// Undo and redo without limit. A step holds the squares it changed, packed, as they are not now: going over it changes the two.
// Guarantees: undo after undo leads to the very first bytes, redo to the last; what the page itself holds stays within a budget, since the
// steps furthest from now are handed to the browser as blobs, which it keeps outside the page and, when memory is short, on disk.

import { type Coverage, invertAll } from "./coverage";
import { joined, type Rect, wholeOf } from "./geometry";
import { packTile, tileRect, unpackTile } from "./tiles";

export type Act = "brush" | "eraser" | "rectangle" | "lasso" | "fill" | "invert" | "clear";
export type KeptTiles = Map<number, Uint8Array>;
type Parked = { blob: Blob; places: readonly { index: number; from: number; to: number }[] };
type Step = { act: Act; tiles: KeptTiles | Parked; bytes: number; version: number };

export type History = {
  record: (act: Act, tiles: KeptTiles) => void;
  /** What it changed; undefined where there is nothing to undo. */
  undo: () => Promise<Gone | undefined>;
  redo: () => Promise<Gone | undefined>;
  state: () => HistoryState;
  /** Of packed squares that the page itself holds. */
  heldBytes: () => number;
};
export type Gone = { act: Act; rect: Rect };
/** `version` is the same again whenever the picture is. */
export type HistoryState = { undo?: Act; redo?: Act; version: number };

export const HISTORY_BUDGET = 128 * 1024 * 1024;
const STEP_COST = 256;

export function createHistory(coverage: Coverage, budget = HISTORY_BUDGET): History {
  const past: Step[] = [];
  const future: Step[] = [];
  let version = 0;
  let newest = 0;
  let held = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /** Furthest from now first: the oldest to undo, then the last to redo. */
  function park(): void {
    for (const step of [...past, ...future]) {
      if (held <= budget) return;
      if (!(step.tiles instanceof Map) || step.tiles.size === 0) continue;
      held -= step.bytes;
      step.tiles = toBlob(step.tiles);
    }
  }

  async function go(from: Step[], to: Step[]): Promise<Gone | undefined> {
    const step = from.at(-1);
    if (!step) return undefined;
    const tiles = step.tiles instanceof Map ? step.tiles : await fromBlob(step.tiles);
    if (from.at(-1) !== step) return undefined;
    from.pop();
    if (step.tiles instanceof Map) held -= step.bytes;
    const back: KeptTiles = new Map();
    let rect: Rect | undefined;
    if (step.act === "invert") {
      invertAll(coverage);
      rect = wholeOf(coverage);
    }
    for (const [index, packed] of tiles) {
      back.set(index, packTile(coverage, index));
      unpackTile(coverage, index, packed);
      rect = joined(rect, tileRect(coverage, index));
    }
    const bytes = bytesOf(back);
    held += bytes;
    to.push({ act: step.act, tiles: back, bytes, version });
    version = step.version;
    park();
    return { act: step.act, rect: rect ?? { left: 0, top: 0, right: 0, bottom: 0 } };
  }

  /** One after another: a step that comes back from a blob must not be overtaken. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = turn.then(act);
    turn = result.catch(() => undefined);
    return result;
  }

  return {
    record(act, tiles) {
      for (const { tiles: lost, bytes } of future.splice(0)) if (lost instanceof Map) held -= bytes;
      const bytes = bytesOf(tiles);
      past.push({ act, tiles, bytes, version });
      held += bytes;
      version = newest += 1;
      park();
    },
    undo: () => inTurn(() => go(past, future)),
    redo: () => inTurn(() => go(future, past)),
    state: () => ({ undo: past.at(-1)?.act, redo: future.at(-1)?.act, version }),
    heldBytes: () => held,
  };
}

function bytesOf(tiles: KeptTiles): number {
  let bytes = STEP_COST;
  for (const packed of tiles.values()) bytes += packed.length;
  return bytes;
}

function toBlob(tiles: KeptTiles): Parked {
  const places = [];
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const [index, packed] of tiles) {
    places.push({ index, from: at, to: (at += packed.length) });
    parts.push(new Uint8Array(packed));
  }
  return { blob: new Blob(parts), places };
}

async function fromBlob({ blob, places }: Parked): Promise<KeptTiles> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return new Map(places.map(({ index, from, to }) => [index, bytes.subarray(from, to)]));
}
