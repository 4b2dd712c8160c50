"use client";

import { type PointerEvent, useRef, useState } from "react";

/** Shorter ones are an unsteady finger. */
const LEAST = 56;

type SwipeOptions = { isOn: boolean; onSwipe: ((by: 1 | -1) => void) | undefined };

/** One finger drawn aside over what cannot be moved: to the next, or back. A second finger makes it something else. */
export function useSwipe({ isOn, onSwipe }: SwipeOptions) {
  const from = useRef<{ x: number; y: number }>(undefined);
  const [by, setBy] = useState(0);
  const end = () => {
    from.current = undefined;
    setBy(0);
  };
  return {
    /** How far the finger has drawn it. */
    by,
    down({ pointerType, isPrimary, clientX: x, clientY: y }: PointerEvent) {
      end();
      if (isOn && onSwipe && pointerType === "touch" && isPrimary) from.current = { x, y };
    },
    /** True: the move was the swipe's. */
    move({ clientX }: PointerEvent): boolean {
      if (!from.current) return false;
      setBy(clientX - from.current.x);
      return true;
    },
    up({ clientX, clientY }: PointerEvent) {
      const start = from.current;
      end();
      if (!start) return;
      const [x, y] = [clientX - start.x, clientY - start.y];
      if (Math.abs(x) >= LEAST && Math.abs(x) > 2 * Math.abs(y)) onSwipe?.(x < 0 ? 1 : -1);
    },
    cancel: end,
  };
}
