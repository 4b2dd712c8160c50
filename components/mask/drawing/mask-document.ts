// A mask being drawn: its pixels and its history. Needs no DOM.
// Guarantees: every change is one history step. Changes never overlap. Paint listeners are called for each changed rectangle, and state
// listeners only when the state changes.

import { createStore } from "zustand/vanilla";
import { type AreaWork, clearAll, floodFill, invertAll, paintShape, type Shape } from "./areas";
import {
  compactTile,
  copyTile,
  type Coverage,
  createCoarseCoverage,
  emptyRect,
  getTileRect,
  invertRows,
  isEmpty,
  type Point,
  putTile,
  type Rect,
  type SavedTiles,
  TILE_SIZE,
} from "./coverage";
import { type Brush, type BrushPoint, startStrokePreview, type StrokePreview } from "./stroke";

export type MaskState = {
  undo?: EditKind;
  redo?: EditKind;
  isBusy: boolean;
  /** Whether there are unsaved changes. */
  isUnsaved: boolean;
  /** The painted fraction of the image, from 0 to 1. */
  paintedFraction: number;
};
/** The last history step, announced to screen readers. */
type HistoryStep = { direction: "did" | "undid" | "redid"; edit: EditKind };

export type MaskDocument = ReturnType<typeof createMaskDocument>;

const MAX_SLICE_MS = 12;
/** The minimum number of pieces drawn at once, so that a small stroke is finished when the pointer is released. */
const MIN_PIECES_PER_SLICE = 16;
/** Maximum time for drawing per pointer move. Remaining invisible work waits for the next move. */
const MAX_MOVE_MS = 8;
/** Faster than a timer, which waits at least four milliseconds. */
const waitForMacrotask = () =>
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
  { historyBudget = HISTORY_BUDGET_BYTES, now = () => performance.now(), pause = waitForMacrotask } = {},
) {
  const history = createHistory(coverage, { budget: historyBudget, onChange: (rect) => yieldToPage(rect) });
  const coarse = createCoarseCoverage(coverage);
  const paintListeners = new Set<(rect: Rect) => void>();
  let stroke: { preview: StrokePreview; edit: EditKind } | undefined;
  /** The remaining work of a released stroke. */
  let unfinishedStroke: { work: Generator<Rect, SavedTiles>; edit: EditKind } | undefined;
  let isBusy = false;
  let savedVersion = 0;
  const state = createStore<MaskState>(() => ({ isBusy: false, isUnsaved: false, paintedFraction: coarse.getPaintedFraction() }));
  let lastStep: HistoryStep | undefined;
  let sliceStartMs = 0;

  function notifyPaint(rect: Rect): void {
    if (!isEmpty(rect)) for (const listener of paintListeners) listener(rect);
  }
  function handleChange(rect: Rect): void {
    if (isEmpty(rect)) return;
    coarse.update(rect);
    notifyPaint(rect);
  }
  function updateState(newStep?: HistoryStep): void {
    const { undo, redo, version } = history.getState();
    lastStep = newStep ?? lastStep;
    state.setState({ undo, redo, isBusy, isUnsaved: version !== savedVersion, paintedFraction: coarse.getPaintedFraction() }, true);
  }

  /** Lets the page respond after each slice. */
  function yieldToPage(rect: Rect): Promise<void> | void {
    handleChange(rect);
    if (now() - sliceStartMs < MAX_SLICE_MS) return;
    if (!state.getState().isBusy) updateState();
    return pause().then(() => {
      sliceStartMs = now();
    });
  }

  /** Processes one piece of the stroke. Returns false if it was finished. */
  function processPiece({ work, edit }: NonNullable<typeof unfinishedStroke>): boolean {
    const { done, value } = work.next();
    if (!done) {
      notifyPaint(value);
      return true;
    }
    unfinishedStroke = undefined;
    if (value.size > 0) history.record(edit, value);
    updateState(value.size > 0 ? { direction: "did", edit } : undefined);
    return false;
  }
  function finishStroke(): void {
    while (unfinishedStroke) processPiece(unfinishedStroke);
  }
  function releaseStroke(): void {
    if (!stroke) return;
    unfinishedStroke = { work: stroke.preview.end(), edit: stroke.edit };
    stroke = undefined;
  }

  async function runExclusively(work: () => Promise<HistoryStep | void>): Promise<void> {
    if (isBusy || stroke) return;
    isBusy = true;
    sliceStartMs = now();
    let newStep: HistoryStep | void = undefined;
    try {
      while (unfinishedStroke) if (processPiece(unfinishedStroke)) await yieldToPage(emptyRect);
      newStep = await work();
    } finally {
      isBusy = false;
      updateState(newStep ?? undefined);
    }
  }

  const runEdit = (edit: EditKind, area: AreaWork) =>
    runExclusively(async () => {
      let piece = area.next();
      for (; !piece.done; piece = area.next()) await yieldToPage(piece.value);
      if (piece.value.size === 0 && edit !== "invert") return;
      history.record(edit, piece.value);
      return { direction: "did", edit };
    });

  const runHistoryStep = (direction: "undid" | "redid") =>
    runExclusively(async () => {
      const edit = await (direction === "undid" ? history.undo() : history.redo());
      if (edit) return { direction, edit };
    });

  return {
    coverage,
    coarse,
    subscribe: state.subscribe,
    onPaint(listener: (rect: Rect) => void) {
      paintListeners.add(listener);
      return () => void paintListeners.delete(listener);
    },
    getState: state.getState,
    getLastStep: () => lastStep,
    getSavedBytes: history.countSavedBytes,

    /** Returns false while busy. `isZoomedOut`: single pixels are invisible. */
    startStroke(brush: Brush, point: BrushPoint, isZoomedOut = false): boolean {
      if (isBusy || stroke) return false;
      finishStroke();
      const { preview, rect } = startStrokePreview(coverage, coarse, brush, point, isZoomedOut);
      stroke = { preview, edit: brush.isErasing ? "eraser" : "brush" };
      notifyPaint(rect);
      return true;
    },
    extendStroke(points: readonly BrushPoint[], isZoomedOut = false): void {
      const deadline = now() + MAX_MOVE_MS;
      if (stroke) notifyPaint(stroke.preview.extend(points, isZoomedOut, () => now() >= deadline));
    },
    /** Finishes the stroke synchronously. */
    endStroke(): void {
      releaseStroke();
      finishStroke();
    },
    /** Finishes the stroke in slices. A new stroke first finishes the previous one. Undo and fill wait for it. */
    async endStrokeInSlices(): Promise<void> {
      releaseStroke();
      const currentStroke = unfinishedStroke;
      let startMs = now();
      for (let piece = 1; currentStroke && currentStroke === unfinishedStroke && processPiece(currentStroke); piece += 1) {
        if (piece < MIN_PIECES_PER_SLICE || now() - startMs < MAX_SLICE_MS) continue;
        await pause();
        startMs = now();
      }
    },
    /** Removes the stroke. */
    cancelStroke(): void {
      const droppedRects = stroke?.preview.drop() ?? [];
      stroke = undefined;
      for (const rect of droppedRects) notifyPaint(rect);
    },
    isDrawing: () => stroke !== undefined,

    drawShape: (edit: "rectangle" | "lasso", shape: Shape, isErasing: boolean) => runEdit(edit, paintShape(coverage, shape, isErasing)),
    fill: (point: Point, isErasing: boolean) => runEdit("fill", floodFill(coverage, point, isErasing)),
    clear: () => runEdit("clear", clearAll(coverage)),
    invert: () => runEdit("invert", invertAll(coverage)),
    /** Computes the coarse coverage and the painted fraction. Must be called once if the initial coverage is not blank. */
    prepare: () =>
      runExclusively(async () => {
        const { width, height } = coverage;
        for (let top = 0; top < height; top += TILE_SIZE)
          await yieldToPage({ left: 0, top, right: width, bottom: Math.min(height, top + TILE_SIZE) });
      }),
    /** Returns a copy of the coverage, or undefined while busy. */
    async snapshot(): Promise<Coverage | undefined> {
      let copy: Coverage | undefined;
      await runExclusively(async () => {
        copy = { ...coverage, data: coverage.data.slice() };
      });
      return copy;
    },
    undo: () => runHistoryStep("undid"),
    redo: () => runHistoryStep("redid"),
    /** `version`: the result of `getVersion()` when the bytes were copied. */
    markSaved(version: number): void {
      savedVersion = version;
      updateState();
    },
    getVersion: () => history.getState().version,
  };
}

// Unlimited undo and redo. A step stores the previous content of its changed tiles. Undo and redo swap it with the current content.
// Guarantees: undo and redo restore the exact bytes. Steps beyond the memory budget are stored as blobs, which the browser keeps outside the
// page's memory.

type EditKind = "brush" | "eraser" | "rectangle" | "lasso" | "fill" | "invert" | "clear";
type BlobTiles = { blob: Blob; lengths: readonly (readonly [index: number, bytes: number])[] };
type Step = { edit: EditKind; tiles: SavedTiles | BlobTiles; version: number };

const HISTORY_BUDGET_BYTES = 128 * 1024 * 1024;
const STEP_OVERHEAD_BYTES = 256;

type HistoryOptions = {
  budget?: number;
  /** Called and awaited for each rectangle that undo or redo changes, so that the page can respond in between. */
  onChange: (rect: Rect) => Promise<void> | void;
};

/** The caller must wait for an undo or redo before the next change. */
function createHistory(coverage: Coverage, { budget = HISTORY_BUDGET_BYTES, onChange }: HistoryOptions) {
  const undoSteps: Step[] = [];
  const redoSteps: Step[] = [];
  /** The same content always has the same version. */
  let version = 0;
  let newestVersion = 0;

  const countSavedBytes = () => [...undoSteps, ...redoSteps].reduce((sum, { tiles }) => sum + countBytes(tiles), 0);
  /** Moves steps to blobs, starting with the ones used last: the oldest undo steps, then the redo steps. */
  function moveToBlobs(): void {
    let bytes = countSavedBytes();
    for (const step of [...undoSteps, ...redoSteps]) {
      if (bytes <= budget) return;
      if (!(step.tiles instanceof Map) || step.tiles.size === 0) continue;
      bytes -= countBytes(step.tiles);
      step.tiles = toBlob(step.tiles);
    }
  }

  async function applyStep(sourceSteps: Step[], targetSteps: Step[]): Promise<EditKind | undefined> {
    const step = sourceSteps.pop();
    if (!step) return undefined;
    const tiles = step.tiles instanceof Map ? step.tiles : await fromBlob(step.tiles);
    const replacedTiles: SavedTiles = new Map();
    if (step.edit === "invert") {
      for (let top = 0; top < coverage.height; top += TILE_SIZE) {
        const bottom = Math.min(coverage.height, top + TILE_SIZE);
        invertRows(coverage, top, bottom);
        await onChange({ left: 0, top, right: coverage.width, bottom });
      }
    }
    for (const [index, tile] of tiles) {
      const rect = getTileRect(coverage, index);
      replacedTiles.set(index, compactTile(copyTile(coverage, rect)));
      putTile(coverage, rect, tile);
      await onChange(rect);
    }
    targetSteps.push({ edit: step.edit, tiles: replacedTiles, version });
    version = step.version;
    moveToBlobs();
    return step.edit;
  }

  return {
    record(edit: EditKind, tiles: SavedTiles): void {
      redoSteps.length = 0;
      undoSteps.push({ edit, tiles, version });
      version = newestVersion += 1;
      moveToBlobs();
    },
    /** Returns the undone edit, or undefined if there is nothing to undo. */
    undo: () => applyStep(undoSteps, redoSteps),
    redo: () => applyStep(redoSteps, undoSteps),
    getState: () => ({ undo: undoSteps.at(-1)?.edit, redo: redoSteps.at(-1)?.edit, version }),
    /** Returns the number of bytes of tiles in the page's memory. */
    countSavedBytes,
  };
}

function countBytes(tiles: SavedTiles | BlobTiles): number {
  return tiles instanceof Map ? [...tiles.values()].reduce((sum, { length }) => sum + length, STEP_OVERHEAD_BYTES) : 0;
}

function toBlob(tiles: SavedTiles): BlobTiles {
  return { blob: new Blob([...tiles.values()]), lengths: [...tiles].map(([index, { length }]) => [index, length] as const) };
}

async function fromBlob({ blob, lengths }: BlobTiles): Promise<SavedTiles> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let offset = 0;
  return new Map(lengths.map(([index, length]) => [index, bytes.subarray(offset, (offset += length))]));
}
