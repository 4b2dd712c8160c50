"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { keepTo } from "@/lib/browser/persisted";
import { hasRole, type Role } from "@/lib/contract/people/roles";

/** `signOutAt`: where the proxy that signs people in signs them out; null: it does not say where. */
type Member = { id?: string; role: Role; isReadOnly?: boolean; signOutAt?: string | null };

const Current = createContext<Member | undefined>(undefined);

/** The signed-in member, so that controls offer only allowed acts. The server alone decides what is allowed. */
export function MemberProvider({ id, role, isReadOnly = false, signOutAt, children }: Member & { children: ReactNode }) {
  useEffect(() => {
    if (id !== undefined) keepTo(id);
  }, [id]);
  return <Current value={{ role, isReadOnly, signOutAt }}>{children}</Current>;
}

export function useRole(): Role | undefined {
  return useContext(Current)?.role;
}

/** True for members who have only apps, their own runs and their account. */
export function useRunsAppsOnly(): boolean {
  const role = useRole();
  return role !== undefined && !hasRole(role, "viewer");
}

export function useSignOutAt(): string | null | undefined {
  return useContext(Current)?.signOutAt;
}

/** Why an act is not offered: that the console is read-only, otherwise the given sentence about the role. */
export function useWhyNot(): (ofRole: string) => string {
  const t = useTranslations("frame.readOnly");
  const isReadOnly = useContext(Current)?.isReadOnly ?? false;
  return (ofRole) => (isReadOnly ? t("short") : ofRole);
}
