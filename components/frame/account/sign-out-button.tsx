"use client";

import { LogOut } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { IconButton } from "@/components/ui/controls/button";
import { allowLeaving } from "@/components/ui/hooks/use-close-warning";
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
  async function end() {
    setBusy(true);
    // The user has confirmed already, and an ended session leaves nothing to keep.
    allowLeaving(true);
    // Lists that are still open read nothing more.
    setSessionEnded(true);
    // A full page load, so that no member data stays in memory.
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
    if (!wouldLose()) return end();
    showToast({ tone: "wait", text: t("signOutLoses"), action: { label: t("signOutAllTheSame"), run: () => void end() } });
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
function wouldLose(): boolean {
  return !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
}
