import { useTranslations } from "next-intl";
import { useEffect, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { onConfirmedElsewhere } from "@/lib/browser/confirm";
import { signInAt } from "@/lib/browser/session";
import { type OidcChoice } from "@/lib/contract/people/sign-in";

/** Opens the provider in a tab of its own, so that the asking page loses nothing. */
export function ConfirmAtProvider({ providers, onConfirmed }: { providers: readonly OidcChoice[]; onConfirmed: () => void }) {
  const t = useTranslations("frame.confirm");
  const [busyWith, setBusyWith] = useState<string>();
  const [isWaiting, setWaiting] = useState(false);
  const [refused, setRefused] = useState<string>();
  useEffect(() => onConfirmedElsewhere(onConfirmed), [onConfirmed]);

  async function open({ id, label }: OidcChoice) {
    // Opened at once, as the browser would otherwise block it as a pop-up.
    const tab = window.open("", "_blank");
    setBusyWith(id);
    setRefused(undefined);
    const going = await signInAt(id, { purpose: "confirm", returnTo: "/confirmed" });
    setBusyWith(undefined);
    if (!going.ok) {
      tab?.close();
      return setRefused(label);
    }
    setWaiting(true);
    if (tab) tab.location.assign(going.value);
    else window.location.assign(going.value);
  }
  return (
    <div className="flex flex-col gap-2">
      {refused ? <FailureNotice title={t("away.title", { provider: refused })} next={t("away.next")} /> : null}
      {providers.map((one) => (
        <Button key={one.id} busy={busyWith === one.id} onClick={() => void open(one)}>
          {t("with", { provider: one.label })}
        </Button>
      ))}
      <p role="status" className="text-sm text-ink-3">
        {isWaiting ? t("waiting") : null}
      </p>
    </div>
  );
}
