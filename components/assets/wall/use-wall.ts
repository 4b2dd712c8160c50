import { type RefObject, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { type Drawn, type Shape } from "./drawn";
import { createMotion, type Motion } from "./motion";
import { createWallScroll } from "./wall-scroll";

export type Wall<S extends Shape> = Pick<ReturnType<typeof createWallScroll<S>>, "jumpTo" | "reveal" | "firstIndex" | "pointAt"> & {
  container: RefObject<HTMLDivElement | null>;
  /** Undefined until the browser has measured the width. */
  drawn: Drawn<S> | undefined;
  motion: Motion;
};

type WallOptions<S extends Shape> = {
  count: number;
  /** Must be a stable function while nothing changes. */
  layoutOf: (widthPx: number, screenPx: number) => S;
  /** The index at which the list opens. */
  startIndex: number;
  /** The scrolling came to rest with this tile at the top. */
  onRest: (firstIndex: number) => void;
  /** The height of a sticky list header, which covers rows. */
  headPx?: number;
};

/** A list of any length in the page's own scroll: draws only what is near the view, in a page short enough for every browser. */
export function useWall<S extends Shape>({ count, layoutOf, startIndex, onRest, headPx = 0 }: WallOptions<S>): Wall<S> {
  const container = useRef<HTMLDivElement>(null);
  const [motion] = useState(() => createMotion());
  const [drawn, setDrawn] = useState<Drawn<S>>();
  const [scroll] = useState(() => createWallScroll<S>(setDrawn));
  const rested = useEffectEvent(onRest);

  useLayoutEffect(() => scroll.isShown(drawn), [scroll, drawn]);

  useLayoutEffect(() => {
    if (container.current) scroll.update({ element: container.current, count, headPx, layoutOf }, startIndex);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- where the list opens is asked for once
  }, [scroll, count, headPx, layoutOf]);

  // With another layout, what was scrolling has come to its end.
  useEffect(() => scroll.listen(motion, (first) => rested(first)), [scroll, motion, headPx, layoutOf]);

  const { jumpTo, reveal, firstIndex, pointAt } = scroll;
  return { container, drawn, motion, jumpTo, reveal, firstIndex, pointAt };
}
