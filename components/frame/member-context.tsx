"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { keepTo } from "@/lib/browser/persisted";
import { hasRole, type Role } from "@/lib/contract/people/roles";

/** `signOutAt`: a proxy signs people in and out, there; null: it does not say where. */
type Member = { id?: string; role: Role; isReadOnly?: boolean; signOutAt?: string | null };

const Current = createContext<Member | undefined>(undefined);

/** The signed-in member, so that controls offer only what they may do. The server alone decides what is allowed. */
export function MemberProvider({ id, role, isReadOnly = false, signOutAt, children }: Member & { children: ReactNode }) {
  useEffect(() => {
    if (id !== undefined) keepTo(id);
  }, [id]);
  return <Current value={{ role, isReadOnly, signOutAt }}>{children}</Current>;
}

export function useRole(): Role | undefined {
  return useContext(Current)?.role;
}

/** Apps, their own runs and their account are all that such a member has. */
export function useRunsAppsOnly(): boolean {
  const role = useRole();
  return role !== undefined && !hasRole(role, "viewer");
}

export function useSignOutAt(): string | null | undefined {
  return useContext(Current)?.signOutAt;
}

/** Why something is not offered: the sentence that says so of the role, or that the console is read-only, whatever the role. */
export function useWhyNot(): (ofRole: string) => string {
  const t = useTranslations("frame.readOnly");
  const isReadOnly = useContext(Current)?.isReadOnly ?? false;
  return (ofRole) => (isReadOnly ? t("short") : ofRole);
}
