"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Card } from "@/components/ui/card";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { apiPath } from "@/lib/browser/urls";
import { RemovalDialog } from "./removal-dialog";

export function SessionsCard({ name }: { name: string }) {
  const t = useTranslations("settings.profile");
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  async function end() {
    setAsking(false);
    setBusy(true);
    const result = await callApi("/api/console/account/sessions", { method: "DELETE" });
    // A full load, so that nothing of the member stays in memory.
    if (result.ok) return window.location.assign(apiPath("/sign-in"));
    setBusy(false);
    setFailure(result.failure);
  }
  return (
    <Card title={t("sessions")} bodyClassName="flex flex-col items-start gap-3">
      {failure ? <FailureMessage failure={failure} /> : null}
      <p className="max-w-[62ch] text-ink-2">{t("sessionsText")}</p>
      <Button tone="danger" busy={isBusy} onClick={() => setAsking(true)}>
        {t("endSessions")}
      </Button>
      <RemovalDialog
        leaving={isAsking ? { name } : undefined}
        title={t("endTitle")}
        onRemove={() => void end()}
        onClose={() => setAsking(false)}
      >
        {t("endText")}
      </RemovalDialog>
    </Card>
  );
}
