// A mask being drawn: its pixels and its history. Needs no DOM.
// Guarantees: every change is one step of the history. Changes never overlap. Paint listeners are called for each changed rectangle, state
// listeners only when the state changes.

import { createStore } from "zustand/vanilla";
import { type AreaWork, clearAll, floodFill, invertAll, paintShape, type Shape } from "./areas";
import {
  compactTile,
  copyTile,
  type Coverage,
  createCoarse,
  emptyRect,
  invertRows,
  isEmpty,
  type Point,
  putTile,
  type Rect,
  type SavedTiles,
  TILE,
  tileRect,
} from "./coverage";
import { beginShownStroke, type Brush, type BrushPoint, type ShownStroke } from "./stroke";

export type MaskState = {
  undo?: EditKind;
  redo?: EditKind;
  isBusy: boolean;
  /** Whether there are unsaved changes. */
  isUnsaved: boolean;
  /** The painted share of the picture, 0 to 1. */
  paintedShare: number;
};
/** The last step, for the screen and for screen readers. */
type HistoryStep = { direction: "did" | "undid" | "redid"; edit: EditKind };

export type MaskDocument = ReturnType<typeof createMaskDocument>;

const SLICE_MS = 12;
/** Pieces of a stroke's end that are drawn at once, so that a small stroke is finished when the pointer is lifted. */
const MIN_PIECES_PER_SLICE = 16;
/** Time per pointer move. Beyond it, invisible work waits for the next move. */
const MAX_MOVE_MS = 8;
/** A timer would wait at least four milliseconds each time. */
const nextMacrotask = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });

export function createMaskDocument(
  coverage: Coverage,
  { historyBudget = HISTORY_BUDGET, now = () => performance.now(), pause = nextMacrotask } = {},
) {
  const history = createHistory(coverage, { budget: historyBudget, onChange: (rect) => yieldToPage(rect) });
  const coarse = createCoarse(coverage);
  const painters = new Set<(rect: Rect) => void>();
  let stroke: { shownStroke: ShownStroke; edit: EditKind } | undefined;
  /** The remaining work of a released stroke. */
  let ending: { work: Generator<Rect, SavedTiles>; edit: EditKind } | undefined;
  let isBusy = false;
  let savedVersion = 0;
  const state = createStore<MaskState>(() => ({ isBusy: false, isUnsaved: false, paintedShare: coarse.paintedShare() }));
  let lastStep: HistoryStep | undefined;
  let sliceFrom = 0;

  function show(rect: Rect): void {
    if (!isEmpty(rect)) for (const paint of painters) paint(rect);
  }
  function markChanged(rect: Rect): void {
    if (isEmpty(rect)) return;
    coarse.update(rect);
    show(rect);
  }
  function notify(last?: HistoryStep): void {
    const { undo, redo, version } = history.state();
    lastStep = last ?? lastStep;
    state.setState({ undo, redo, isBusy, isUnsaved: version !== savedVersion, paintedShare: coarse.paintedShare() }, true);
  }

  /** Lets the page respond after each slice. */
  function yieldToPage(rect: Rect): Promise<void> | void {
    markChanged(rect);
    if (now() - sliceFrom < SLICE_MS) return;
    if (!state.getState().isBusy) notify();
    return pause().then(() => {
      sliceFrom = now();
    });
  }

  /** Processes one piece. Returns false if none was left. */
  function resume({ work, edit }: NonNullable<typeof ending>): boolean {
    const { done: isOver, value } = work.next();
    if (!isOver) {
      show(value);
      return true;
    }
    ending = undefined;
    if (value.size > 0) history.record(edit, value);
    notify(value.size > 0 ? { direction: "did", edit } : undefined);
    return false;
  }
  function finish(): void {
    while (ending) resume(ending);
  }
  function release(): void {
    if (!stroke) return;
    ending = { work: stroke.shownStroke.end(), edit: stroke.edit };
    stroke = undefined;
  }

  async function runExclusively(work: () => Promise<HistoryStep | void>): Promise<void> {
    if (isBusy || stroke) return;
    isBusy = true;
    sliceFrom = now();
    let last: HistoryStep | void = undefined;
    try {
      while (ending) if (resume(ending)) await yieldToPage(emptyRect);
      last = await work();
    } finally {
      isBusy = false;
      notify(last ?? undefined);
    }
  }

  const work = (action: EditKind, area: AreaWork) =>
    runExclusively(async () => {
      let step = area.next();
      for (; !step.done; step = area.next()) await yieldToPage(step.value);
      if (step.value.size === 0 && action !== "invert") return;
      history.record(action, step.value);
      return { direction: "did", edit: action };
    });

  const step = (direction: "undid" | "redid") =>
    runExclusively(async () => {
      const action = await (direction === "undid" ? history.undo() : history.redo());
      if (action) return { direction, edit: action };
    });

  return {
    coverage,
    coarse,
    subscribe: state.subscribe,
    onPaint(paint: (rect: Rect) => void) {
      painters.add(paint);
      return () => void painters.delete(paint);
    },
    state: state.getState,
    lastDone: () => lastStep,
    savedBytes: history.savedBytes,

    /** Returns false while busy. `isFar`: zoomed out so far that single pixels are invisible. */
    begin(brush: Brush, point: BrushPoint, isFar = false): boolean {
      if (isBusy || stroke) return false;
      finish();
      const { preview, rect } = beginShownStroke(coverage, coarse, brush, point, isFar);
      stroke = { shownStroke: preview, edit: brush.isErasing ? "eraser" : "brush" };
      show(rect);
      return true;
    },
    extend(points: readonly BrushPoint[], isFar = false): void {
      const deadline = now() + MAX_MOVE_MS;
      if (stroke) show(stroke.shownStroke.to(points, isFar, () => now() >= deadline));
    },
    /** Finishes the stroke synchronously. */
    end(): void {
      release();
      finish();
    },
    /** Finishes the stroke in slices. A new stroke finishes the rest first; undo and fill wait. */
    async endInSlices(): Promise<void> {
      release();
      const currentEnding = ending;
      let from = now();
      for (let piece = 1; currentEnding && currentEnding === ending && resume(currentEnding); piece += 1) {
        if (piece < MIN_PIECES_PER_SLICE || now() - from < SLICE_MS) continue;
        await pause();
        from = now();
      }
    },
    /** Removes the stroke. */
    drop(): void {
      const dropped = stroke?.shownStroke.drop() ?? [];
      stroke = undefined;
      for (const rect of dropped) show(rect);
    },
    isStroking: () => stroke !== undefined,

    shape: (action: "rectangle" | "lasso", shape: Shape, isErasing: boolean) => work(action, paintShape(coverage, shape, isErasing)),
    fill: (at: Point, isErasing: boolean) => work("fill", floodFill(coverage, at, isErasing)),
    clear: () => work("clear", clearAll(coverage)),
    invert: () => work("invert", invertAll(coverage)),
    /** Computes the means and the painted share. Called once if the initial coverage is not blank. */
    prepare: () =>
      runExclusively(async () => {
        const { width, height } = coverage;
        for (let top = 0; top < height; top += TILE)
          await yieldToPage({ left: 0, top, right: width, bottom: Math.min(height, top + TILE) });
      }),
    /** Returns a copy of the coverage, or undefined while busy. */
    async snapshot(): Promise<Coverage | undefined> {
      let copy: Coverage | undefined;
      await runExclusively(async () => {
        copy = { ...coverage, data: coverage.data.slice() };
      });
      return copy;
    },
    undo: () => step("undid"),
    redo: () => step("redid"),
    /** `version`: the result of `version()` when the bytes were copied. */
    saved(version: number): void {
      savedVersion = version;
      notify();
    },
    version: () => history.state().version,
  };
}

// Unlimited undo and redo. A step stores the changed tiles in their other state, and undo and redo swap the two.
// Guarantees: undo and redo restore the exact bytes. Steps beyond the memory budget become blobs, which the browser stores outside the page or
// on disk.

type EditKind = "brush" | "eraser" | "rectangle" | "lasso" | "fill" | "invert" | "clear";
type BlobTiles = { blob: Blob; lengths: readonly (readonly [index: number, bytes: number])[] };
type Step = { edit: EditKind; tiles: SavedTiles | BlobTiles; version: number };

const HISTORY_BUDGET = 128 * 1024 * 1024;
const STEP_COST = 256;

type Options = {
  budget?: number;
  /** Called and awaited for each rectangle that undo or redo changes, so that the page can respond in between. */
  onChange: (rect: Rect) => Promise<void> | void;
};

/** The caller must wait for an undo or redo before the next change. */
function createHistory(coverage: Coverage, { budget = HISTORY_BUDGET, onChange }: Options) {
  const past: Step[] = [];
  const future: Step[] = [];
  /** The same picture always has the same version. */
  let version = 0;
  let newest = 0;

  const savedBytes = () => [...past, ...future].reduce((sum, { tiles }) => sum + countBytes(tiles), 0);
  /** Moves the steps that are furthest away to blobs first: the oldest undo, then the last redo. */
  function moveToBlobs(): void {
    let bytes = savedBytes();
    for (const step of [...past, ...future]) {
      if (bytes <= budget) return;
      if (!(step.tiles instanceof Map) || step.tiles.size === 0) continue;
      bytes -= countBytes(step.tiles);
      step.tiles = toBlob(step.tiles);
    }
  }

  async function go(from: Step[], to: Step[]): Promise<EditKind | undefined> {
    const step = from.pop();
    if (!step) return undefined;
    const tiles = step.tiles instanceof Map ? step.tiles : await fromBlob(step.tiles);
    const back: SavedTiles = new Map();
    if (step.edit === "invert") {
      for (let top = 0; top < coverage.height; top += TILE) {
        const bottom = Math.min(coverage.height, top + TILE);
        invertRows(coverage, top, bottom);
        await onChange({ left: 0, top, right: coverage.width, bottom });
      }
    }
    for (const [index, tile] of tiles) {
      const rect = tileRect(coverage, index);
      back.set(index, compactTile(copyTile(coverage, rect)));
      putTile(coverage, rect, tile);
      await onChange(rect);
    }
    to.push({ edit: step.edit, tiles: back, version });
    version = step.version;
    moveToBlobs();
    return step.edit;
  }

  return {
    record(action: EditKind, tiles: SavedTiles): void {
      future.length = 0;
      past.push({ edit: action, tiles, version });
      version = newest += 1;
      moveToBlobs();
    },
    /** The undone edit; undefined if there is nothing to undo. */
    undo: () => go(past, future),
    redo: () => go(future, past),
    state: () => ({ undo: past.at(-1)?.edit, redo: future.at(-1)?.edit, version }),
    /** Bytes of tiles in the page's own memory. */
    savedBytes,
  };
}

function countBytes(tiles: SavedTiles | BlobTiles): number {
  return tiles instanceof Map ? [...tiles.values()].reduce((sum, { length }) => sum + length, STEP_COST) : 0;
}

function toBlob(tiles: SavedTiles): BlobTiles {
  return { blob: new Blob([...tiles.values()]), lengths: [...tiles].map(([index, { length }]) => [index, length] as const) };
}

async function fromBlob({ blob, lengths }: BlobTiles): Promise<SavedTiles> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let at = 0;
  return new Map(lengths.map(([index, length]) => [index, bytes.subarray(at, (at += length))]));
}
