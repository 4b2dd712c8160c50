"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext } from "react";
import { type Role } from "@/lib/contract/roles";

type Member = { role: Role; isReadOnly?: boolean };

const Current = createContext<Member | undefined>(undefined);

/** Whose pages these are: what a control offers. What is allowed is judged by the server alone. */
export function MemberProvider({ role, isReadOnly = false, children }: Member & { children: ReactNode }) {
  return <Current value={{ role, isReadOnly }}>{children}</Current>;
}

export function useRole(): Role | undefined {
  return useContext(Current)?.role;
}

/** Why something is not offered: the sentence that says so of the role, or that the console is read-only, whatever the role. */
export function useWhyNot(): (ofRole: string) => string {
  const t = useTranslations("frame.readOnly");
  const isReadOnly = useContext(Current)?.isReadOnly ?? false;
  return (ofRole) => (isReadOnly ? t("short") : ofRole);
}
