"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { NewPasswordInput } from "@/components/frame/account/sign-in-fields";
import { FailureMessage, findInvalidField } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { FormField, getFieldText, InputField } from "@/components/ui/controls/fields";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { type InvitationState } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { object, oneOf } from "@/lib/contract/json/readers";
import { MIN_PASSWORD_LENGTH } from "@/lib/contract/members/sign-in";

export function SetUpForm({ token }: { token: string }) {
  const t = useTranslations("auth.setUp");
  const { isBusy, failure, getFieldError, onSubmit } = useSignUp("/api/console/set-up", ["name", "email", "password"], (data) => ({
    token,
    name: getFieldText(data, "name"),
    email: getFieldText(data, "email"),
  }));

  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      {failure ? <SetUpRefusal failure={failure} /> : null}
      <InputField label={t("name")} error={getFieldError("name")} name="name" autoComplete="name" required maxLength={100} />
      <InputField label={t("email")} error={getFieldError("email")} name="email" type="email" autoComplete="username" required />
      <FormField label={t("password")} hint={t("passwordHint", { count: MIN_PASSWORD_LENGTH })} error={getFieldError("password")}>
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {isBusy ? t("busy") : t("submit")}
      </Button>
    </form>
  );
}

/** A used link or an existing owner can't be fixed in the form, so both notices link to the sign-in page. */
function SetUpRefusal({ failure }: { failure: ApiFailure }) {
  const t = useTranslations("auth.setUp");
  const isLinkUsed = failure.code === "UNAUTHORIZED" || failure.code === "CONFLICT";
  if (!isLinkUsed) return <FailureMessage failure={failure} />;
  const key = failure.code === "CONFLICT" ? "taken" : "spent";
  return (
    <FailureNotice title={t(`${key}.title`)} remedy={t(`${key}.text`)} actions={<ButtonLink href="/sign-in">{t("toSignIn")}</ButtonLink>} />
  );
}

/**
 * Accepts an invitation with a name and a password, or resets a member's password. The email address is fixed. If the request fails, the
 * form keeps its values.
 */
export function InvitationForm({ token, email, isPasswordReset }: { token: string; email: string; isPasswordReset: boolean }) {
  const t = useTranslations("auth.invitation");
  const { isBusy, failure, getFieldError, onSubmit } = useSignUp(
    "/api/console/members/invitations/accept",
    ["name", "password"],
    (data) => ({
      token,
      ...(!isPasswordReset && { name: getFieldText(data, "name") }),
    }),
  );
  const reason = failure && getInvitationRefusalReason(failure);

  return (
    <form method="post" onSubmit={onSubmit} className="flex flex-col gap-4">
      {reason ? <InvitationRefusal reason={reason} /> : failure ? <FailureMessage failure={failure} /> : null}
      <InputField label={t("email")} name="email" type="email" autoComplete="username" readOnly value={email} className="bg-sunken" />
      {isPasswordReset ? null : (
        <InputField label={t("name")} error={getFieldError("name")} name="name" autoComplete="name" required maxLength={100} />
      )}
      <FormField label={t("password")} hint={t("passwordHint", { count: MIN_PASSWORD_LENGTH })} error={getFieldError("password")}>
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {isPasswordReset ? t(isBusy ? "reset.busy" : "reset.submit") : t(isBusy ? "busy" : "submit")}
      </Button>
    </form>
  );
}

export function InvitationRefusal({ reason }: { reason: InvitationRefusalReason }) {
  const t = useTranslations("auth.invitation");
  return (
    <FailureNotice
      title={t(`${reason}.title`)}
      remedy={t(`${reason}.text`)}
      actions={<ButtonLink href="/sign-in">{t("toSignIn")}</ButtonLink>}
    />
  );
}

const invalidStates = ["used", "expired", "withdrawn", "unknown"] as const satisfies readonly InvitationState[];
type InvitationRefusalReason = (typeof invalidStates)[number] | "taken" | "noToken";

const parseRefusal = object({ invitation: oneOf(invalidStates) });

/** Returns why the link was rejected, or undefined for unrelated failures. */
export function getInvitationRefusalReason({ code, details }: Failure): InvitationRefusalReason | undefined {
  if (code === "CONFLICT") return "taken";
  return parseRefusal(details)?.invitation;
}

type FieldName = "name" | "email" | "password";

/**
 * Creates an account and signs in. Every form has the fields `email` and `password`, and `getBody` reads the others. `failure` applies to the
 * whole form, `getFieldError` to a field.
 */
function useSignUp(path: `/api/${string}`, fields: readonly FieldName[], getBody: (data: FormData) => Record<string, unknown>) {
  const t = useTranslations("auth.wrong");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const invalidField = failure && findInvalidField(failure, fields);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const password = getFieldText(data, "password");
    setBusy(true);
    setFailure(undefined);
    const result = await callApi(path, { method: "POST", json: { ...getBody(data), password } });
    if (!result.ok) {
      setBusy(false);
      return setFailure(result.failure);
    }
    // The account exists now. If signing in fails, the user can retry on the sign-in page.
    const outcome = await signIn({ email: getFieldText(data, "email"), password });
    window.location.assign(apiPath(outcome === "signed-in" ? "/" : "/sign-in"));
  }

  return {
    isBusy,
    failure: invalidField ? undefined : failure,
    getFieldError: (name: FieldName) => (invalidField === name ? t(name, { count: MIN_PASSWORD_LENGTH }) : undefined),
    onSubmit: (event: FormEvent<HTMLFormElement>) => void submit(event),
  };
}
