"use client";

import { createContext, type ReactNode, useContext } from "react";
import { type Role } from "@/lib/contract/roles";

const Member = createContext<Role | undefined>(undefined);

/** Whose pages these are: what a control offers. What is allowed is judged by the server alone. */
export function MemberProvider({ role, children }: { role: Role; children: ReactNode }) {
  return <Member value={role}>{children}</Member>;
}

export function useRole(): Role | undefined {
  return useContext(Member);
}
