"use client";

import { createContext, type ReactNode, useContext } from "react";

const May = createContext(false);

/** Whether share links for people without an account are offered here. The server alone decides what is allowed. */
export function MayShare({ value, children }: { value: boolean; children: ReactNode }) {
  return <May value={value}>{children}</May>;
}

export function useMayShare(): boolean {
  return useContext(May);
}
