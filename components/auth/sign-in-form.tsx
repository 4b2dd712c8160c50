"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { ProviderRefusal, type ProviderRefusalReason } from "@/components/frame/account/sign-in-fields";
import { Button } from "@/components/ui/controls/button";
import { getFieldText, InputField } from "@/components/ui/controls/fields";
import { FailureNotice } from "@/components/ui/empty-state";
import { getReturnPath, signIn, type SignInOutcome, signInWithProvider } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { type OidcChoice } from "@/lib/contract/members/sign-in";

export function SignInForm() {
  const t = useTranslations("auth.signIn");
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Exclude<SignInOutcome, "signed-in">>();

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    setBusy(true);
    setRefusal(undefined);
    const outcome = await signIn({ email: getFieldText(data, "email"), password: getFieldText(data, "password") });
    // A full page load, since frame, caches and connection depend on the member.
    if (outcome === "signed-in") return window.location.assign(apiPath(getReturnPath()));
    setBusy(false);
    setRefusal(outcome);
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      {refusal ? <FailureNotice title={t(`${refusal}.title`)} remedy={t(`${refusal}.next`)} /> : null}
      <InputField label={t("email")} name="email" type="email" autoComplete="username" required />
      <InputField label={t("password")} name="password" type="password" autoComplete="current-password" required />
      <Button type="submit" tone="primary" busy={isBusy}>
        {isBusy ? t("busy") : t("submit")}
      </Button>
    </form>
  );
}

type ProviderButtonsProps = {
  providers: readonly OidcChoice[];
  /** The invitation's token, which is accepted on sign-in with the invited email address. */
  token?: string;
};

/** If a provider is unreachable, only its button reports it. */
export function ProviderButtons({ providers, token }: ProviderButtonsProps) {
  const t = useTranslations("auth.provider");
  const [busyWith, setBusyWith] = useState<string>();
  const [refusal, setRefusal] = useState<{ provider: string; reason: ProviderRefusalReason }>();

  async function redirectToProvider({ id, label }: OidcChoice) {
    setBusyWith(id);
    setRefusal(undefined);
    const result = await signInWithProvider(
      id,
      token === undefined ? { purpose: "signIn", returnTo: getReturnPath() } : { purpose: "join", token, returnTo: "/" },
    );
    if (result.ok) return window.location.assign(result.value);
    setBusyWith(undefined);
    setRefusal({ provider: label, reason: result.failure });
  }
  return (
    <div className="flex flex-col gap-2">
      {refusal ? <ProviderRefusal reason={refusal.reason} provider={refusal.provider} /> : null}
      {providers.map((provider) => (
        <Button key={provider.id} busy={busyWith === provider.id} onClick={() => void redirectToProvider(provider)}>
          {t(busyWith === provider.id ? "opening" : "with", { provider: provider.label })}
        </Button>
      ))}
    </div>
  );
}

export function PasswordDivider() {
  const t = useTranslations("auth.provider");
  return (
    <p className="flex items-center gap-3 text-sm text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      {t("or")}
    </p>
  );
}
