"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { fieldText } from "@/components/ui/controls/field-text";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { FailureNotice } from "@/components/ui/failure-notice";
import { returnPath, signIn, type SignInOutcome } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";

export function SignInForm() {
  const t = useTranslations("auth.signIn");
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Exclude<SignInOutcome, "signed-in">>();

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    setBusy(true);
    setRefusal(undefined);
    const outcome = await signIn({ email: fieldText(data, "email"), password: fieldText(data, "password") });
    // A full page load, as frame, caches and connection belong to the member who signed in.
    if (outcome === "signed-in") return window.location.assign(apiPath(returnPath()));
    setBusy(false);
    setRefusal(outcome);
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      {refusal ? <FailureNotice title={t(`${refusal}.title`)} next={t(`${refusal}.next`)} /> : null}
      <FormField label={t("email")}>
        {(control) => <Input {...control} name="email" type="email" autoComplete="username" required />}
      </FormField>
      <FormField label={t("password")}>
        {(control) => <Input {...control} name="password" type="password" autoComplete="current-password" required />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {isBusy ? t("busy") : t("submit")}
      </Button>
    </form>
  );
}
