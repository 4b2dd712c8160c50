"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { NewPasswordInput } from "@/components/frame/account/sign-in-fields";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { findInvalidField } from "@/components/frame/failure/fault-owner";
import { Button } from "@/components/ui/controls/button";
import { fieldText, FormField, InputField } from "@/components/ui/controls/form-field";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { type InvitationState } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { object, oneOf } from "@/lib/contract/json/readers";
import { MIN_PASSWORD } from "@/lib/contract/people/sign-in";

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
      <InputField label={t("name")} error={wrongIn("name")} name="name" autoComplete="name" required maxLength={100} />
      <InputField label={t("email")} error={wrongIn("email")} name="email" type="email" autoComplete="username" required />
      <FormField label={t("password")} hint={t("passwordHint", { count: MIN_PASSWORD })} error={wrongIn("password")}>
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
    <FailureNotice title={t(`${key}.title`)} next={t(`${key}.text`)} actions={<ButtonLink href="/sign-in">{t("toSignIn")}</ButtonLink>} />
  );
}

/**
 * The invitation fixes the address: an invited person chooses a name and a password, a member who forgot theirs only a password. A refusal
 * keeps what was typed.
 */
export function InvitationForm({ token, email, resets }: { token: string; email: string; resets: boolean }) {
  const t = useTranslations("auth.invitation");
  const { isBusy, failure, wrongIn, onSubmit } = useSignUp("/api/console/members/invitations/accept", ["name", "password"], (data) => ({
    token,
    ...(!resets && { name: fieldText(data, "name") }),
  }));
  const reason = failure && invitationReason(failure);

  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      {reason ? <InvitationRefusal reason={reason} /> : failure ? <FailureMessage failure={failure} /> : null}
      <InputField label={t("email")} name="email" type="email" autoComplete="username" readOnly value={email} className="bg-sunken" />
      {resets ? null : <InputField label={t("name")} error={wrongIn("name")} name="name" autoComplete="name" required maxLength={100} />}
      <FormField label={t("password")} hint={t("passwordHint", { count: MIN_PASSWORD })} error={wrongIn("password")}>
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {resets ? t(isBusy ? "reset.busy" : "reset.submit") : t(isBusy ? "busy" : "submit")}
      </Button>
    </form>
  );
}

export function InvitationRefusal({ reason }: { reason: InvitationReason }) {
  const t = useTranslations("auth.invitation");
  return (
    <FailureNotice
      title={t(`${reason}.title`)}
      next={t(`${reason}.text`)}
      actions={<ButtonLink href="/sign-in">{t("toSignIn")}</ButtonLink>}
    />
  );
}

const spent = ["used", "expired", "withdrawn", "unknown"] as const satisfies readonly InvitationState[];
type InvitationReason = (typeof spent)[number] | "taken" | "noToken";

const refused = object({ invitation: oneOf(spent) });

/** Why the link was refused; undefined for unrelated failures. */
export function invitationReason({ code, details }: Failure): InvitationReason | undefined {
  if (code === "CONFLICT") return "taken";
  return refused(details)?.invitation;
}

type Field = "name" | "email" | "password";

/**
 * A form that ends with an account, signed in: its fields `email` and `password`, and what `bodyOf` reads besides the password. `failure`
 * is for the whole form, `wrongIn` for a field.
 */
function useSignUp(path: `/api/${string}`, fields: readonly Field[], bodyOf: (data: FormData) => Record<string, unknown>) {
  const t = useTranslations("auth.wrong");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const field = failure && findInvalidField(failure, fields);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const password = fieldText(data, "password");
    setBusy(true);
    setFailure(undefined);
    const result = await callApi(path, { method: "POST", json: { ...bodyOf(data), password } });
    if (!result.ok) {
      setBusy(false);
      return setFailure(result.failure);
    }
    // The member exists from here on; if signing in fails, the sign-in page explains it.
    const outcome = await signIn({ email: fieldText(data, "email"), password });
    window.location.assign(apiPath(outcome === "signed-in" ? "/" : "/sign-in"));
  }

  return {
    isBusy,
    failure: field ? undefined : failure,
    wrongIn: (name: Field) => (field === name ? t(name, { count: MIN_PASSWORD }) : undefined),
    onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event),
  };
}
