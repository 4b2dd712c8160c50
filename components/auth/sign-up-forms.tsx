"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { NewPasswordInput } from "@/components/frame/account/sign-in-fields";
import { FailureMessage, findInvalidField } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { fieldText, FormField, InputField } from "@/components/ui/controls/fields";
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

/** A used link or an existing owner can't be corrected in the form, so both link to the sign-in page. */
function SetUpRefusal({ failure }: { failure: ApiFailure }) {
  const t = useTranslations("auth.setUp");
  const isLinkUsed = failure.code === "UNAUTHORIZED" || failure.code === "CONFLICT";
  if (!isLinkUsed) return <FailureMessage failure={failure} />;
  const key = failure.code === "CONFLICT" ? "taken" : "spent";
  return (
    <FailureNotice title={t(`${key}.title`)} next={t(`${key}.text`)} actions={<ButtonLink href="/sign-in">{t("toSignIn")}</ButtonLink>} />
  );
}

/**
 * Accepts an invitation with a name and a password, or resets a member's password. The email address is fixed. A refusal keeps the input.
 */
export function InvitationForm({ token, email, resets }: { token: string; email: string; resets: boolean }) {
  const t = useTranslations("auth.invitation");
  const { isBusy, failure, wrongIn, onSubmit } = useSignUp("/api/console/members/invitations/accept", ["name", "password"], (data) => ({
    token,
    ...(!resets && { name: fieldText(data, "name") }),
  }));
  const reason = failure && getInvitationReason(failure);

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

const spentStates = ["used", "expired", "withdrawn", "unknown"] as const satisfies readonly InvitationState[];
type InvitationReason = (typeof spentStates)[number] | "taken" | "noToken";

const readRefusal = object({ invitation: oneOf(spentStates) });

/** Why the link was refused; undefined for unrelated failures. */
export function getInvitationReason({ code, details }: Failure): InvitationReason | undefined {
  if (code === "CONFLICT") return "taken";
  return readRefusal(details)?.invitation;
}

type Field = "name" | "email" | "password";

/**
 * Creates an account and signs in. The form has the fields `email` and `password`; `getBody` reads the others. `failure` is for the whole form,
 * `wrongIn` for a field.
 */
function useSignUp(path: `/api/${string}`, fields: readonly Field[], getBody: (data: FormData) => Record<string, unknown>) {
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
    const result = await callApi(path, { method: "POST", json: { ...getBody(data), password } });
    if (!result.ok) {
      setBusy(false);
      return setFailure(result.failure);
    }
    // The account exists now; if signing in fails, the sign-in page explains it.
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
