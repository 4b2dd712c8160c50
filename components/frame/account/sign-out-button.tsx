"use client";

import { LogOut } from "lucide-react";
import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { useSignOut } from "./use-sign-out";

export function SignOutButton() {
  const t = useTranslations("frame.member");
  const { isBusy, leave, isOffered } = useSignOut();
  if (!isOffered) return null;
  return (
    <Button tone="quiet" size="icon" busy={isBusy} title={t("signOut")} aria-label={t("signOut")} onClick={() => void leave()}>
      <LogOut aria-hidden="true" className="size-4" />
    </Button>
  );
}
