"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { showToast } from "@/components/ui/toast-store";
import { signOut } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";

export function useSignOut() {
  const t = useTranslations("frame.member");
  const [isBusy, setBusy] = useState(false);
  async function leave() {
    setBusy(true);
    // A full load, so that nothing of the member stays in memory.
    if (await signOut()) return window.location.assign(apiPath("/sign-in"));
    setBusy(false);
    showToast({ tone: "bad", text: t("signOutFailed") });
  }
  return { isBusy, leave };
}
