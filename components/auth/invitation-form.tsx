"use client";

import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { faultyField } from "@/components/frame/failure/faulty-field";
import { NewPasswordInput } from "@/components/frame/account/new-password-input";
import { Button } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { callApi } from "@/lib/browser/api";
import { SHORTEST_PASSWORD } from "@/lib/contract/people/passwords";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { fieldText } from "@/components/ui/controls/field-text";
import { invitationReason } from "./invitation-reason";
import { InvitationRefusal } from "./invitation-refusal";

const fields = ["name", "password"] as const;

/**
 * The invitation fixes the address: an invited person chooses a name and a password, a member who forgot theirs only a password. A refusal
 * keeps what was typed.
 */
export function InvitationForm({ token, email, resets }: { token: string; email: string; resets: boolean }) {
  const t = useTranslations("auth.invitation");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const reason = failure && invitationReason(failure);

  const wrong = useTranslations("auth.wrong");
  const field = failure && faultyField(failure, fields);
  const reasonFor = (name: (typeof fields)[number]) => (field === name ? wrong(name, { count: SHORTEST_PASSWORD }) : undefined);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const password = fieldText(data, "password");
    setBusy(true);
    setFailure(undefined);
    const json = { token, ...(!resets && { name: fieldText(data, "name") }), password };
    const result = await callApi("/api/console/members/invitations/accept", { method: "POST", json });
    if (!result.ok) {
      setBusy(false);
      return setFailure(result.failure);
    }
    // The member exists from here on; if signing in fails, the sign-in page says why.
    const outcome = await signIn({ email, password });
    window.location.assign(apiPath(outcome === "signed-in" ? "/" : "/sign-in"));
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      {reason ? <InvitationRefusal reason={reason} /> : failure && !field ? <FailureMessage failure={failure} /> : null}
      <FormField label={t("email")}>
        {(control) => <Input {...control} name="email" type="email" autoComplete="username" readOnly value={email} className="bg-sunken" />}
      </FormField>
      {resets ? null : (
        <FormField label={t("name")} error={reasonFor("name")}>
          {(control) => <Input {...control} name="name" autoComplete="name" required maxLength={100} />}
        </FormField>
      )}
      <FormField label={t("password")} hint={t("passwordHint", { count: SHORTEST_PASSWORD })} error={reasonFor("password")}>
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
      <Button type="submit" tone="primary" busy={isBusy}>
        {resets ? t(isBusy ? "reset.busy" : "reset.submit") : t(isBusy ? "busy" : "submit")}
      </Button>
    </form>
  );
}
