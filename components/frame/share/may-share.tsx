"use client";

import { createContext, type ReactNode, useContext } from "react";

const May = createContext(false);

/** Whether links for people without an account can be made here: what is offered. What is allowed is judged by the server alone. */
export function MayShare({ value, children }: { value: boolean; children: ReactNode }) {
  return <May value={value}>{children}</May>;
}

export function useMayShare(): boolean {
  return useContext(May);
}
