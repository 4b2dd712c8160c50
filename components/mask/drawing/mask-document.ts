// One mask being drawn: its pixels, its history, and what has to be redrawn. Needs no DOM.
// Guarantees: every change is one step of the history; during work on an area or a stroke nothing else begins;
// listeners are called for each changed rectangle, and for the state only when it changes.

import { createStore } from "zustand/vanilla";
import { type AreaWork, clearAll, floodFill, invertAll, paintShape, type Shape } from "./areas";
import { type Coarse, type Coverage, createCoarse, emptyCoverage, TILE } from "./coverage";
import { isEmpty, nothing, type Point, type Rect } from "./geometry";
import { type Act, createHistory, HISTORY_BUDGET, type KeptTiles } from "./history";
import { beginShownStroke, type Brush, type BrushPoint, type ShownStroke } from "./stroke";

export type MaskState = {
  undo?: Act;
  redo?: Act;
  isBusy: boolean;
  /** There are changes that were not saved. */
  isUnsaved: boolean;
  /** The painted share of the picture, 0 to 1. */
  paintedShare: number;
};
/** What was done, for the screen and for screen readers. */
export type Done = { what: "did" | "undid" | "redid"; act: Act };

export type MaskDocument = ReturnType<typeof createMaskDocument>;

const SLICE_MS = 12;
/** Pieces of a stroke's end that are drawn at once: a small stroke is finished when the pointer is lifted. */
const AT_ONCE = 16;
/** Time per pointer move: beyond it, invisible work waits for the next move. */
const MOVE_MS = 8;
/** Bytes copied at a time. */
const COPIED = 4_000_000;
/** A timer would wait four milliseconds each time, a third of a slice. */
const soon = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });

type Options = { historyBudget?: number; now?: () => number; pause?: () => Promise<void> };

export function createMaskDocument(coverage: Coverage, options: Options = {}) {
  const { historyBudget = HISTORY_BUDGET, now = () => performance.now(), pause = soon } = options;
  const history = createHistory(coverage, { budget: historyBudget, onChange: (rect) => breathe(rect) });
  const coarse: Coarse = createCoarse(coverage);
  const painters = new Set<(rect: Rect) => void>();
  let stroke: { shown: ShownStroke; act: Act } | undefined;
  /** The remaining work of a released stroke. */
  let ending: { work: Generator<Rect, KeptTiles>; act: Act } | undefined;
  let isBusy = false;
  let savedVersion = 0;
  const state = createStore<MaskState>(() => ({ isBusy: false, isUnsaved: false, paintedShare: coarse.paintedShare() }));
  let done: Done | undefined;
  let sliceFrom = 0;

  function show(rect: Rect): void {
    if (!isEmpty(rect)) for (const paint of painters) paint(rect);
  }
  function changed(rect: Rect): void {
    if (isEmpty(rect)) return;
    coarse.update(rect);
    show(rect);
  }
  function tell(last?: Done): void {
    const { undo, redo, version } = history.state();
    done = last ?? done;
    state.setState({ undo, redo, isBusy, isUnsaved: version !== savedVersion, paintedShare: coarse.paintedShare() }, true);
  }

  /** Lets the page respond after each slice. */
  function breathe(rect: Rect): Promise<void> | void {
    changed(rect);
    if (now() - sliceFrom < SLICE_MS) return;
    if (!state.getState().isBusy) tell();
    return pause().then(() => {
      sliceFrom = now();
    });
  }

  /** Works on one piece; false if none was left. */
  function goOn({ work, act }: NonNullable<typeof ending>): boolean {
    const { done: isOver, value } = work.next();
    if (!isOver) {
      show(value);
      return true;
    }
    ending = undefined;
    if (value.size > 0) history.record(act, value);
    tell(value.size > 0 ? { what: "did", act } : undefined);
    return false;
  }
  function finish(): void {
    while (ending) goOn(ending);
  }
  function release(): void {
    if (!stroke) return;
    ending = { work: stroke.shown.end(), act: stroke.act };
    stroke = undefined;
  }

  async function alone(act: () => Promise<Done | undefined>): Promise<void> {
    if (isBusy || stroke) return;
    isBusy = true;
    sliceFrom = now();
    let last: Done | undefined;
    try {
      while (ending) if (goOn(ending)) await breathe(nothing);
      last = await act();
    } finally {
      isBusy = false;
      tell(last);
    }
  }

  const work = (act: Act, area: AreaWork) =>
    alone(async () => {
      let step = area.next();
      for (; !step.done; step = area.next()) await breathe(step.value);
      if (step.value.size === 0 && act !== "invert") return undefined;
      history.record(act, step.value);
      return { what: "did", act };
    });

  const step = (what: "undid" | "redid") =>
    alone(async () => {
      const act = await (what === "undid" ? history.undo() : history.redo());
      return act && { what, act };
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
    lastDone: () => done,
    keptBytes: () => history.keptBytes(),

    /** False while something else is in progress. `isFar`: zoomed out so far that single pixels are invisible. */
    begin(brush: Brush, point: BrushPoint, isFar = false): boolean {
      if (isBusy || stroke) return false;
      finish();
      const { shown, rect } = beginShownStroke(coverage, coarse, brush, point, isFar);
      stroke = { shown, act: brush.isErasing ? "eraser" : "brush" };
      show(rect);
      return true;
    },
    extend(points: readonly BrushPoint[], isFar = false): void {
      const until = now() + MOVE_MS;
      if (stroke) show(stroke.shown.to(points, isFar, () => now() >= until));
    },
    /** Finishes the stroke at once. */
    end(): void {
      release();
      finish();
    },
    /** Finishes the stroke in slices. A new stroke does not wait and finishes the rest first; undo and fill wait for the slices. */
    async endInSlices(): Promise<void> {
      release();
      const mine = ending;
      let from = now();
      for (let piece = 1; mine && mine === ending && goOn(mine); piece += 1) {
        if (piece < AT_ONCE || now() - from < SLICE_MS) continue;
        await pause();
        from = now();
      }
    },
    /** Removes the stroke as if it had never begun. */
    drop(): void {
      const dropped = stroke?.shown.drop() ?? [];
      stroke = undefined;
      for (const rect of dropped) show(rect);
    },
    isStroking: () => stroke !== undefined,

    shape: (act: "rectangle" | "lasso", shape: Shape, isErasing: boolean) => work(act, paintShape(coverage, shape, isErasing)),
    fill: (at: Point, isErasing: boolean) => work("fill", floodFill(coverage, at, isErasing)),
    clear: () => work("clear", clearAll(coverage)),
    invert: () => work("invert", invertAll(coverage)),
    /** Called once if the first coverage is not blank: computes the means and the painted share. */
    prepare: () =>
      alone(async () => {
        const { width, height } = coverage;
        for (let top = 0; top < height; top += TILE) await breathe({ left: 0, top, right: width, bottom: Math.min(height, top + TILE) });
        return undefined;
      }),
    /** A copy that later drawing does not change; undefined while something else is in progress. */
    async snapshot(): Promise<Coverage | undefined> {
      let copy: Coverage | undefined;
      await alone(async () => {
        copy = emptyCoverage(coverage);
        for (let at = 0; at < coverage.data.length; at += COPIED) {
          copy.data.set(coverage.data.subarray(at, at + COPIED), at);
          await breathe(nothing);
        }
        return undefined;
      });
      return copy;
    },
    undo: () => step("undid"),
    redo: () => step("redid"),
    /** `version`: the result of `version()` when the bytes were copied. */
    saved(version: number): void {
      savedVersion = version;
      tell();
    },
    version: () => history.state().version,
  };
}
