"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { ProviderRefusal, type ProviderRefusalReason } from "@/components/frame/account/provider-refusal";
import { Button } from "@/components/ui/controls/button";
import { returnPath, signInAt } from "@/lib/browser/session";
import { type OidcChoice } from "@/lib/contract/people/sign-in";

type ProviderButtonsProps = {
  providers: readonly OidcChoice[];
  /** Of an invitation, which is then accepted by the person with its address at the provider. */
  token?: string;
};

/** If a provider cannot be reached, the buttons say so; the rest of the page still works. */
export function ProviderButtons({ providers, token }: ProviderButtonsProps) {
  const t = useTranslations("auth.provider");
  const [busyWith, setBusyWith] = useState<string>();
  const [refused, setRefused] = useState<{ provider: string; reason: ProviderRefusalReason }>();

  async function go({ id, label }: OidcChoice) {
    setBusyWith(id);
    setRefused(undefined);
    const going = await signInAt(
      id,
      token === undefined ? { purpose: "signIn", returnTo: returnPath() } : { purpose: "join", token, returnTo: "/" },
    );
    if (going.ok) return window.location.assign(going.value);
    setBusyWith(undefined);
    setRefused({ provider: label, reason: going.failure });
  }
  return (
    <div className="flex flex-col gap-2">
      {refused ? <ProviderRefusal reason={refused.reason} provider={refused.provider} /> : null}
      {providers.map((provider) => (
        <Button key={provider.id} busy={busyWith === provider.id} onClick={() => void go(provider)}>
          {t(busyWith === provider.id ? "opening" : "with", { provider: provider.label })}
        </Button>
      ))}
    </div>
  );
}

/** The line between the providers and the password form. */
export function OrPassword() {
  const t = useTranslations("auth.provider");
  return (
    <p className="flex items-center gap-3 text-sm text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      {t("or")}
    </p>
  );
}
