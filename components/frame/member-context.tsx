"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { setStorageOwner } from "@/lib/browser/persisted";
import { hasRole, type Role } from "@/lib/contract/people/roles";

/** `canChange`: false while the console is read-only. `signOutAt`: the proxy's sign-out URL; null if it has none. */
type Member = { id?: string; role: Role; canChange?: boolean; signOutAt?: string | null };

const MemberContext = createContext<Member | undefined>(undefined);

/** The signed-in member, so that controls offer only permitted actions. The server enforces permissions. */
export function MemberProvider({ id, role, canChange = true, signOutAt, children }: Member & { children: ReactNode }) {
  useEffect(() => {
    if (id !== undefined) setStorageOwner(id);
  }, [id]);
  return <MemberContext value={{ role, canChange, signOutAt }}>{children}</MemberContext>;
}

export function useRole(): Role | undefined {
  return useContext(MemberContext)?.role;
}

/** True for members who have only apps, their own runs and their account. */
export function useRunsAppsOnly(): boolean {
  const role = useRole();
  return role !== undefined && !hasRole(role, "viewer");
}

/** False while the console is read-only, for every role. */
export function useCanChange(): boolean {
  return useContext(MemberContext)?.canChange ?? true;
}

export function useSignOutAt(): string | null | undefined {
  return useContext(MemberContext)?.signOutAt;
}

/** Returns why an action is unavailable: read-only mode, otherwise the given text about the role. */
export function useDenialText(): (roleText: string) => string {
  const t = useTranslations("frame.readOnly");
  const canChange = useCanChange();
  return (roleText) => (canChange ? roleText : t("short"));
}

const MayShareContext = createContext(false);

/** Whether public share links are offered. The server enforces permissions. */
export function MayShare({ value, children }: { value: boolean; children: ReactNode }) {
  return <MayShareContext value={value}>{children}</MayShareContext>;
}

export function useMayShare(): boolean {
  return useContext(MayShareContext);
}
