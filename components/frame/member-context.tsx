"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { setStorageOwner } from "@/lib/browser/persisted-value";
import { hasRole, type Role } from "@/lib/contract/members/roles";

/** `canChange`: false while the console is read-only. `signOutUrl`: the proxy's sign-out URL, or null if it has none. */
type Member = { id?: string; role: Role; canChange?: boolean; signOutUrl?: string | null };

const MemberContext = createContext<Member | undefined>(undefined);

/** Provides the signed-in member, so that controls offer only permitted actions. The server enforces permissions. */
export function MemberProvider({ id, role, canChange = true, signOutUrl, children }: Member & { children: ReactNode }) {
  useEffect(() => {
    if (id !== undefined) setStorageOwner(id);
  }, [id]);
  return <MemberContext value={{ role, canChange, signOutUrl }}>{children}</MemberContext>;
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

export function useSignOutUrl(): string | null | undefined {
  return useContext(MemberContext)?.signOutUrl;
}

/** Returns why an action is unavailable: the read-only mode, otherwise the text about the role. */
export function useDenialText(): (roleText: string) => string {
  const t = useTranslations("frame.readOnly");
  const canChange = useCanChange();
  return (roleText) => (canChange ? roleText : t("short"));
}

const CanShareContext = createContext(false);

/** Whether public share links are offered. The server enforces permissions. */
export function ShareProvider({ value, children }: { value: boolean; children: ReactNode }) {
  return <CanShareContext value={value}>{children}</CanShareContext>;
}

export function useCanShare(): boolean {
  return useContext(CanShareContext);
}
