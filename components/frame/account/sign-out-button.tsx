"use client";

import { LogOut } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { IconButton } from "@/components/ui/controls/button";
import { allowLeaving } from "@/components/ui/hooks/page-events";
import { showToast } from "@/components/ui/toast-store";
import { setSessionEnded } from "@/lib/browser/live/live-state";
import { clearPersonalStorage } from "@/lib/browser/persisted";
import { useSignOutAt } from "../member-context";

export function SignOutButton() {
  const t = useTranslations("frame.member");
  const { isBusy, leave, isOffered } = useSignOut();
  if (!isOffered) return null;
  return <IconButton icon={LogOut} label={t("signOut")} tone="quiet" busy={isBusy} onClick={() => void leave()} />;
}

export function useSignOut() {
  const t = useTranslations("frame.member");
  const [isBusy, setBusy] = useState(false);
  const signOutAt = useSignOutAt();
  async function endSession() {
    setBusy(true);
    // The user has already confirmed losing unsaved work.
    allowLeaving(true);
    // Stops live updates.
    setSessionEnded(true);
    // A full page load, so that no member data remains in memory.
    const target = signOutAt ?? (await signOut());
    if (target !== undefined) {
      clearPersonalStorage();
      return window.location.assign(target);
    }
    allowLeaving(false);
    setSessionEnded(false);
    setBusy(false);
    showToast({ tone: "bad", text: t("signOutFailed") });
  }
  async function leave() {
    if (!hasUnsavedWork()) return endSession();
    showToast({ tone: "wait", text: t("signOutLoses"), action: { label: t("signOutAllTheSame"), run: () => void endSession() } });
  }
  return { isBusy, leave, isOffered: signOutAt !== null };
}

/** Its code loads on click. If that fails, the console is unreachable and the session continues. */
function signOut(): Promise<string | undefined> {
  return import("@/lib/browser/session").then(
    (session) => session.signOut(),
    () => undefined,
  );
}

/** Runs all beforeunload listeners to detect unsaved work. */
function hasUnsavedWork(): boolean {
  return !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
}
