"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { NewPasswordInput } from "@/components/frame/account/new-password-input";
import { faultyField } from "@/components/frame/failure/faulty-field";
import { Card } from "@/components/ui/card";
import { fieldText } from "@/components/ui/controls/field-text";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { SHORTEST_PASSWORD } from "@/lib/contract/people/sign-in";
import { AccountForm, PresentPassword } from "./account-form";

const fields = ["name", "email", "password", "currentPassword"] as const;
type AccountField = (typeof fields)[number];

/** The state of one account form: whether it is being saved, and which field was refused. */
function useAccount() {
  const router = useRouter();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const isTaken = failure?.code === "CONFLICT";
  const faulty: AccountField | undefined = isTaken ? "email" : failure && faultyField(failure, fields);
  return {
    isBusy,
    isTaken,
    faulty,
    /** A failure that belongs to no field. */
    failure: faulty === undefined ? failure : undefined,
    /** True if it succeeded. `after` is part of the act: the form stays busy until it has ended. */
    async change(json: Partial<Record<AccountField, string>>, after: () => Promise<void> | void): Promise<void> {
      setBusy(true);
      setFailure(undefined);
      const result = await callApi("/api/console/account", { method: "PUT", json });
      if (result.ok) await after();
      else setFailure(result.failure);
      setBusy(false);
      if (result.ok) router.refresh();
    },
  };
}

export function NameForm({ name }: { name: string }) {
  const t = useTranslations("settings.profile");
  const wrong = useTranslations("auth.wrong");
  const { change, faulty, ...state } = useAccount();
  return (
    <AccountForm
      title={t("you")}
      submit={t("save")}
      {...state}
      onSubmit={(data) => void change({ name: fieldText(data, "name") }, () => showToast({ tone: "ok", text: t("saved") }))}
    >
      <FormField label={t("name")} hint={t("nameHint")} error={faulty === "name" ? wrong("name") : undefined}>
        {(control) => <Input {...control} name="name" autoComplete="name" required maxLength={100} defaultValue={name} />}
      </FormField>
    </AccountForm>
  );
}

export function EmailForm({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  const wrong = useTranslations("auth.wrong");
  const { change, faulty, isTaken, ...state } = useAccount();
  return (
    <AccountForm
      title={t("sign")}
      submit={t("changeEmail")}
      {...state}
      onSubmit={(data, form) => {
        const wanted = fieldText(data, "email").trim().toLowerCase();
        void change({ email: wanted, currentPassword: fieldText(data, "currentPassword") }, () => {
          showToast({ tone: "ok", text: t("emailChanged", { email: wanted }) });
          for (const field of form.querySelectorAll<HTMLInputElement>("[type=password]")) field.value = "";
        });
      }}
    >
      <FormField label={t("email")} hint={t("emailHint")} error={faulty === "email" ? (isTaken ? t("taken") : wrong("email")) : undefined}>
        {(control) => (
          <Input {...control} name="email" type="email" autoComplete="username" required maxLength={254} defaultValue={email} />
        )}
      </FormField>
      <PresentPassword isWrong={faulty === "currentPassword"} />
    </AccountForm>
  );
}

/** Shown where members are identified by their address, which is then fixed. */
export function FixedEmail({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  return (
    <Card title={t("sign")} bodyClassName="flex flex-col gap-1">
      <p className="break-words">{email}</p>
      <p className="text-ink-3">{t("fixedEmail")}</p>
    </Card>
  );
}

/** A new password ends every session, including this one: this browser, which knows the new password, signs in again at once. */
export function PasswordForm({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  const wrong = useTranslations("auth.wrong");
  const { change, faulty, ...state } = useAccount();
  return (
    <AccountForm
      title={t("password")}
      submit={t("changePassword")}
      {...state}
      onSubmit={(data, form) => {
        const password = fieldText(data, "password");
        void change({ password, currentPassword: fieldText(data, "currentPassword") }, async () => {
          if ((await signIn({ email, password })) !== "signed-in") return window.location.assign(apiPath("/sign-in"));
          form.reset();
          showToast({ tone: "ok", text: t("passwordChanged") });
        });
      }}
    >
      {/* Tells the browser's password manager which account the new password belongs to. */}
      <input type="email" name="username" autoComplete="username" defaultValue={email} hidden readOnly />
      <PresentPassword isWrong={faulty === "currentPassword"} />
      <FormField
        label={t("newPassword")}
        hint={t("passwordHint", { count: SHORTEST_PASSWORD })}
        error={faulty === "password" ? wrong("password", { count: SHORTEST_PASSWORD }) : undefined}
      >
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
    </AccountForm>
  );
}
