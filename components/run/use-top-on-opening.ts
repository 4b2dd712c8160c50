"use client";

import { useEffect, useRef } from "react";

/** What was opened is seen from its beginning, wherever the page before it was scrolled to. One that was open already keeps its place. */
export function useTopOnOpening(serial: number | undefined): void {
  const seen = useRef(serial);
  useEffect(() => {
    if (seen.current === serial) return;
    seen.current = serial;
    if (serial !== undefined && document.scrollingElement) document.scrollingElement.scrollTop = 0;
  }, [serial]);
}
