"use client";

import { useTranslations } from "next-intl";
import { NewPasswordInput } from "@/components/frame/account/new-password-input";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { fieldText } from "@/components/ui/controls/field-text";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { SHORTEST_PASSWORD } from "@/lib/contract/people/sign-in";
import { invitationReason } from "./invitation-reason";
import { InvitationRefusal } from "./invitation-refusal";
import { useSignUp } from "./use-sign-up";

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
      <FormField label={t("email")}>
        {(control) => <Input {...control} name="email" type="email" autoComplete="username" readOnly value={email} className="bg-sunken" />}
      </FormField>
      {resets ? null : (
        <FormField label={t("name")} error={wrongIn("name")}>
          {(control) => <Input {...control} name="name" autoComplete="name" required maxLength={100} />}
        </FormField>
      )}
      <FormField label={t("password")} hint={t("passwordHint", { count: SHORTEST_PASSWORD })} error={wrongIn("password")}>
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {resets ? t(isBusy ? "reset.busy" : "reset.submit") : t(isBusy ? "busy" : "submit")}
      </Button>
    </form>
  );
}
