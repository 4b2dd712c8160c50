"use client";

import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { type FormEvent, type ReactNode, useState } from "react";
import { NewPasswordInput } from "@/components/frame/account/sign-in-fields";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { faultyField } from "@/components/frame/failure/fault-owner";
import { LanguageSwitch } from "@/components/frame/look/language-switch";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { Select } from "@/components/ui/controls/fields";
import { fieldText } from "@/components/ui/controls/form-field";
import { FormField } from "@/components/ui/controls/form-field";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { browserZone, browserZones, chooseZone, chosenZone } from "@/components/ui/time/use-clock";
import { useHydrated } from "@/components/ui/time/use-now";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { type MemberView, type SessionView } from "@/lib/contract/console";
import { MIN_PASSWORD, type SignInMethods } from "@/lib/contract/people/sign-in";
import { SettingsTabs } from "../settings-tabs";
import { MethodsCard, SessionsCard } from "./methods-card";

const themes = ["system", "light", "dark"] as const;

/** Display settings of this browser; they are not stored with the member. */
function LookCard() {
  const t = useTranslations("settings.profile");
  const theme = useTranslations("frame.theme");
  const language = useTranslations("frame.language");
  const { theme: chosen, setTheme } = useTheme();
  const isHydrated = useHydrated();
  return (
    <Card title={t("look")} bodyClassName="flex flex-col gap-3.5">
      <div className="flex flex-wrap gap-x-6 gap-y-3.5">
        <div className="flex flex-col gap-1">
          <span aria-hidden="true" className="font-medium">
            {language("label")}
          </span>
          <LanguageSwitch />
        </div>
        <FormField label={t("theme")}>
          {(control) => (
            <Select {...control} value={isHydrated ? chosen : "system"} onChange={({ target }) => setTheme(target.value)}>
              {themes.map((name) => (
                <option key={name} value={name}>
                  {theme(name)}
                </option>
              ))}
            </Select>
          )}
        </FormField>
        <FormField label={t("zone")}>
          {(control) => (
            <Select
              {...control}
              className="max-w-[300px]"
              value={isHydrated ? (chosenZone() ?? "") : ""}
              onChange={({ target }) => {
                // A reload, so that all times on the page are formatted again.
                if (chooseZone(target.value || undefined)) window.location.reload();
              }}
            >
              <option value="">{t("zoneBrowser", { zone: isHydrated ? browserZone() : "…" })}</option>
              {isHydrated
                ? browserZones().map((zone) => (
                    <option key={zone} value={zone}>
                      {zone}
                    </option>
                  ))
                : null}
            </Select>
          )}
        </FormField>
      </div>
      <p className="text-ink-3">{t("lookText")}</p>
    </Card>
  );
}

type AccountScreenProps = { member: MemberView; methods: SignInMethods; sessions: readonly SessionView[] };

export function AccountScreen({ member: { name, email, role, createdAt }, methods, sessions }: AccountScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  return (
    <>
      <PageHeader title={t("title")} />
      <SettingsTabs current="account" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        <p className="text-ink-3">
          {roleName(role)} · {t.rich("members.joined", { time: () => <RelativeTime ms={createdAt} /> })}
        </p>
        {/* The key resets a form to what is stored now. */}
        <NameForm key={name} name={name} />
        {methods.hasFixedAddress ? <FixedEmail email={email} /> : methods.password ? <EmailForm key={email} email={email} /> : null}
        {methods.password ? <PasswordForm email={email} /> : null}
        {methods.providers.length > 0 ? <MethodsCard methods={methods} /> : null}
        <SessionsCard name={name} sessions={sessions} />
        <LookCard />
      </div>
    </>
  );
}

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

function NameForm({ name }: { name: string }) {
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

function EmailForm({ email }: { email: string }) {
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
function FixedEmail({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  return (
    <Card title={t("sign")} bodyClassName="flex flex-col gap-1">
      <p className="break-words">{email}</p>
      <p className="text-ink-3">{t("fixedEmail")}</p>
    </Card>
  );
}

/** A new password ends every session, including this one: this browser, which knows the new password, signs in again at once. */
function PasswordForm({ email }: { email: string }) {
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
        hint={t("passwordHint", { count: MIN_PASSWORD })}
        error={faulty === "password" ? wrong("password", { count: MIN_PASSWORD }) : undefined}
      >
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
    </AccountForm>
  );
}

type AccountFormProps = {
  title: string;
  submit: string;
  isBusy: boolean;
  failure?: ApiFailure;
  onSubmit: (data: FormData, form: HTMLFormElement) => void;
  children: ReactNode;
};

function AccountForm({ title, submit, isBusy, failure, onSubmit, children }: AccountFormProps) {
  const t = useTranslations("settings.profile");
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget), event.currentTarget);
  }
  return (
    <Card title={title}>
      <form method="post" onSubmit={send} className="flex max-w-[420px] flex-col gap-3.5">
        {failure ? <FailureMessage failure={failure} /> : null}
        {children}
        <div>
          <Button type="submit" busy={isBusy}>
            {isBusy ? t("saving") : submit}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function PresentPassword({ isWrong }: { isWrong: boolean }) {
  const t = useTranslations("settings.profile");
  return (
    <FormField label={t("currentPassword")} error={isWrong ? t("wrongPassword") : undefined}>
      {(control) => <Input {...control} name="currentPassword" type="password" autoComplete="current-password" required maxLength={254} />}
    </FormField>
  );
}
