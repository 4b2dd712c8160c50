"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { faultyField } from "@/components/frame/failure/faulty-field";
import { NewPasswordInput } from "@/components/frame/account/new-password-input";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { callApi } from "@/lib/browser/api";
import { SHORTEST_PASSWORD } from "@/lib/contract/people/passwords";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { fieldText } from "@/components/ui/controls/field-text";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { FailureNotice } from "@/components/ui/failure-notice";
import { Link } from "@/components/ui/link";

const fields = ["name", "email", "password"] as const;

export function SetUpForm({ token }: { token: string }) {
  const t = useTranslations("auth.setUp");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();

  const wrong = useTranslations("auth.wrong");
  const field = failure && faultyField(failure, fields);
  const reasonFor = (name: (typeof fields)[number]) => (field === name ? wrong(name, { count: SHORTEST_PASSWORD }) : undefined);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const email = fieldText(data, "email");
    const password = fieldText(data, "password");
    setBusy(true);
    setFailure(undefined);
    const result = await callApi("/api/console/set-up", {
      method: "POST",
      json: { token, name: fieldText(data, "name"), email, password },
    });
    if (!result.ok) {
      setBusy(false);
      return setFailure(result.failure);
    }
    // The owner exists from here on; if signing in fails, the sign-in page says why.
    const outcome = await signIn({ email, password });
    window.location.assign(apiPath(outcome === "signed-in" ? "/" : "/sign-in"));
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      {failure && !field ? <SetUpRefusal failure={failure} /> : null}
      <FormField label={t("name")} error={reasonFor("name")}>
        {(control) => <Input {...control} name="name" autoComplete="name" required maxLength={100} />}
      </FormField>
      <FormField label={t("email")} error={reasonFor("email")}>
        {(control) => <Input {...control} name="email" type="email" autoComplete="username" required />}
      </FormField>
      <FormField label={t("password")} hint={t("passwordHint", { count: SHORTEST_PASSWORD })} error={reasonFor("password")}>
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {isBusy ? t("busy") : t("submit")}
      </Button>
    </form>
  );
}

/** A used link and an existing owner cannot be corrected in the form: both lead to the sign-in page. */
function SetUpRefusal({ failure }: { failure: ApiFailure }) {
  const t = useTranslations("auth.setUp");
  const isSpent = failure.code === "UNAUTHORIZED" || failure.code === "CONFLICT";
  if (!isSpent) return <FailureMessage failure={failure} />;
  const key = failure.code === "CONFLICT" ? "taken" : "spent";
  return (
    <FailureNotice
      title={t(`${key}.title`)}
      next={t(`${key}.text`)}
      actions={
        <Link href="/sign-in" className={buttonStyle()}>
          {t("toSignIn")}
        </Link>
      }
    />
  );
}
