"use client";

import { LogOut } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { IconButton } from "@/components/ui/controls/button";
import { hasUnsavedWork, setLeavingAllowed } from "@/components/ui/hooks/page-events";
import { showToast } from "@/components/ui/toast-store";
import { setSessionEnded } from "@/lib/browser/live/live-state";
import { clearPersonalStorage } from "@/lib/browser/persisted-value";
import { useSignOutUrl } from "../member-context";

export function SignOutButton() {
  const t = useTranslations("frame.member");
  const { isBusy, requestSignOut, canSignOut } = useSignOut();
  if (!canSignOut) return null;
  return <IconButton icon={LogOut} label={t("signOut")} tone="quiet" busy={isBusy} onClick={() => void requestSignOut()} />;
}

export function useSignOut() {
  const t = useTranslations("frame.member");
  const [isBusy, setBusy] = useState(false);
  const signOutUrl = useSignOutUrl();
  async function endSession() {
    setBusy(true);
    // The user has already confirmed losing unsaved work.
    setLeavingAllowed(true);
    // Stops live updates.
    setSessionEnded(true);
    // A full page load, so that no member data remains in memory.
    const target = signOutUrl ?? (await signOut());
    if (target !== undefined) {
      clearPersonalStorage();
      return window.location.assign(target);
    }
    setLeavingAllowed(false);
    setSessionEnded(false);
    setBusy(false);
    showToast({ tone: "bad", text: t("signOutFailed") });
  }
  async function requestSignOut() {
    if (!hasUnsavedWork()) return endSession();
    showToast({ tone: "wait", text: t("signOutLoses"), action: { label: t("signOutAllTheSame"), run: () => void endSession() } });
  }
  return { isBusy, requestSignOut, canSignOut: signOutUrl !== null };
}

/** The code is loaded on click. If that fails, the console is unreachable and the session continues. */
function signOut(): Promise<string | undefined> {
  return import("@/lib/browser/session").then(
    (session) => session.signOut(),
    () => undefined,
  );
}
