"use client";

import { useEffect, useState } from "react";

/** The value once it has not changed for a while: what is asked for while a person types is what they meant. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
