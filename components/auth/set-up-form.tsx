"use client";

import { useTranslations } from "next-intl";
import { NewPasswordInput } from "@/components/frame/account/new-password-input";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { fieldText } from "@/components/ui/controls/field-text";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { FailureNotice } from "@/components/ui/failure-notice";
import { Link } from "@/components/ui/link";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { SHORTEST_PASSWORD } from "@/lib/contract/people/sign-in";
import { useSignUp } from "./use-sign-up";

export function SetUpForm({ token }: { token: string }) {
  const t = useTranslations("auth.setUp");
  const { isBusy, failure, wrongIn, onSubmit } = useSignUp("/api/console/set-up", ["name", "email", "password"], (data) => ({
    token,
    name: fieldText(data, "name"),
    email: fieldText(data, "email"),
  }));

  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      {failure ? <SetUpRefusal failure={failure} /> : null}
      <FormField label={t("name")} error={wrongIn("name")}>
        {(control) => <Input {...control} name="name" autoComplete="name" required maxLength={100} />}
      </FormField>
      <FormField label={t("email")} error={wrongIn("email")}>
        {(control) => <Input {...control} name="email" type="email" autoComplete="username" required />}
      </FormField>
      <FormField label={t("password")} hint={t("passwordHint", { count: SHORTEST_PASSWORD })} error={wrongIn("password")}>
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
