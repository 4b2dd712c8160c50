// The view and the size of its frame, outside React: panning redraws canvases sixty times a second, but no component.

import { createStore } from "zustand/vanilla";
import { isFar } from "../drawing/coarse";
import { type Point, type Size } from "../drawing/geometry";
import { fitted, panned, revealed, type View, zoomed } from "../drawing/viewport";

export type ViewStore = ReturnType<typeof createViewStore>;

const STEP = 1.25;

/** Screen pixels per page pixel; above two, the difference is invisible but costs time. */
export function deviceRatio(): number {
  return Math.min(2, globalThis.devicePixelRatio || 1);
}

/** Reports another screen or a zoomed page, even if the frame's own size stays. */
export function watchRatio(listener: () => void): () => void {
  let query: MediaQueryList | undefined;
  const watch = () => {
    query = globalThis.matchMedia?.(`(resolution: ${globalThis.devicePixelRatio}dppx)`);
    query?.addEventListener("change", changed, { once: true });
  };
  const changed = () => {
    listener();
    watch();
  };
  watch();
  return () => query?.removeEventListener("change", changed);
}

export function createViewStore(picture: Size) {
  let frame: Size = { width: 1, height: 1 };
  let view: View = fitted(picture, frame);
  /** Until a person moves it, the picture is fitted to the frame at any size. */
  let isFitted = true;
  const changes = createStore(() => 0);
  const tell = () => changes.setState((count) => count + 1);

  function set(next: View, fits = false): void {
    isFitted = fits;
    if (next.x === view.x && next.y === view.y && next.scale === view.scale) return;
    view = next;
    tell();
  }
  const middle = (): Point => ({ x: frame.width / 2, y: frame.height / 2 });
  const zoom = (factor: number, at: Point = middle()) => set(zoomed(view, factor, at, picture, frame));

  return {
    subscribe: changes.subscribe,
    view: () => view,
    frame: () => frame,
    scale: () => view.scale,
    isFar: () => isFar(view.scale * deviceRatio()),
    resize(next: Size): void {
      if (next.width === 0 || next.height === 0) return;
      // What was in the middle stays there.
      const shift = { x: (next.width - frame.width) / 2, y: (next.height - frame.height) / 2 };
      frame = next;
      set(isFitted ? fitted(picture, frame) : panned(view, shift, picture, frame), isFitted);
      tell();
    },
    fit: () => set(fitted(picture, frame), true),
    actual: () => zoom(1 / view.scale),
    zoomIn: () => zoom(STEP),
    zoomOut: () => zoom(1 / STEP),
    zoom,
    pan: (by: Point) => set(panned(view, by, picture, frame)),
    reveal: (point: Point) => set(revealed(view, point, picture, frame), isFitted),
  };
}
