"use client";

import { LogOut } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { showToast } from "@/components/ui/toast-store";
import { signOut } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";

export function SignOutButton() {
  const t = useTranslations("frame.member");
  const [isBusy, setBusy] = useState(false);
  async function leave() {
    setBusy(true);
    // A full load, so that nothing of the member stays in memory.
    if (await signOut()) return window.location.assign(apiPath("/sign-in"));
    setBusy(false);
    showToast({ tone: "bad", text: t("signOutFailed") });
  }
  return (
    <Button tone="quiet" size="icon" busy={isBusy} title={t("signOut")} aria-label={t("signOut")} onClick={() => void leave()}>
      <LogOut aria-hidden="true" className="size-4" />
    </Button>
  );
}
