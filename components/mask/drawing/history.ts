// Undo and redo without limit. A step holds the packed tiles that it changed, in their other state: undo and redo swap the two.
// Guarantees: undoing everything gives the very first bytes, redoing everything the last; the page's memory stays within a budget: the
// steps furthest from the present become blobs, which the browser keeps outside the page and, when memory is short, on disk.

import { type Coverage, invertRows, packTile, TILE, tileRect, unpackTile } from "./coverage";
import { type Rect } from "./geometry";

export type Act = "brush" | "eraser" | "rectangle" | "lasso" | "fill" | "invert" | "clear";
export type KeptTiles = Map<number, Uint8Array>;
type Parked = { blob: Blob; places: readonly { index: number; from: number; to: number }[] };
type Step = { act: Act; tiles: KeptTiles | Parked; bytes: number; version: number };

export type History = {
  record: (act: Act, tiles: KeptTiles) => void;
  /** The undone act; undefined where there is nothing to undo. */
  undo: () => Promise<Act | undefined>;
  redo: () => Promise<Act | undefined>;
  state: () => HistoryState;
  /** Bytes of packed tiles in the page's own memory. */
  keptBytes: () => number;
};
/** The same picture always has the same `version`. */
type HistoryState = { undo?: Act; redo?: Act; version: number };

export const HISTORY_BUDGET = 128 * 1024 * 1024;
const STEP_COST = 256;

type Options = {
  budget?: number;
  /** Called for each rectangle that undo or redo changes; they await its result, so that the page can respond in between. */
  onChange: (rect: Rect) => Promise<void> | void;
};

export function createHistory(coverage: Coverage, { budget = HISTORY_BUDGET, onChange }: Options): History {
  const past: Step[] = [];
  const future: Step[] = [];
  let version = 0;
  let newest = 0;
  let keptBytes = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /** Furthest from the present first: the oldest to undo, then the last to redo. */
  function park(): void {
    for (const step of [...past, ...future]) {
      if (keptBytes <= budget) return;
      if (!(step.tiles instanceof Map) || step.tiles.size === 0) continue;
      keptBytes -= step.bytes;
      step.tiles = toBlob(step.tiles);
    }
  }

  async function go(from: Step[], to: Step[]): Promise<Act | undefined> {
    const step = from.pop();
    if (!step) return undefined;
    if (step.tiles instanceof Map) keptBytes -= step.bytes;
    const tiles = step.tiles instanceof Map ? step.tiles : await fromBlob(step.tiles);
    const back: KeptTiles = new Map();
    if (step.act === "invert") {
      for (let top = 0; top < coverage.height; top += TILE) {
        const bottom = Math.min(coverage.height, top + TILE);
        invertRows(coverage, top, bottom);
        await onChange({ left: 0, top, right: coverage.width, bottom });
      }
    }
    for (const [index, packed] of tiles) {
      back.set(index, packTile(coverage, index));
      unpackTile(coverage, index, packed);
      await onChange(tileRect(coverage, index));
    }
    const bytes = bytesOf(back);
    keptBytes += bytes;
    to.push({ act: step.act, tiles: back, bytes, version });
    version = step.version;
    park();
    return step.act;
  }

  /** One after another: a step that is being read from a blob must not be overtaken. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = turn.then(act);
    turn = result.catch(() => undefined);
    return result;
  }

  return {
    record(act, tiles) {
      for (const { tiles: lost, bytes } of future.splice(0)) if (lost instanceof Map) keptBytes -= bytes;
      const bytes = bytesOf(tiles);
      past.push({ act, tiles, bytes, version });
      keptBytes += bytes;
      version = newest += 1;
      park();
    },
    undo: () => inTurn(() => go(past, future)),
    redo: () => inTurn(() => go(future, past)),
    state: () => ({ undo: past.at(-1)?.act, redo: future.at(-1)?.act, version }),
    keptBytes: () => keptBytes,
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
