"use client";

import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { type FormEvent, type ReactNode, useSyncExternalStore } from "react";
import { NewPasswordInput } from "@/components/frame/account/sign-in-fields";
import { FailureMessage, findInvalidField } from "@/components/frame/failure/failure-message";
import { LanguageSwitch } from "@/components/frame/look/language-switch";
import { type NoticeChoice, noticeChoice, noticeChoices } from "@/components/frame/own-jobs";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { fieldText, FormField, InputField, Options, SelectField } from "@/components/ui/controls/fields";
import { useRouter } from "@/components/ui/link";
import { browserTimeZone, RelativeTime, selectedTimeZone, storeTimeZone, supportedTimeZones, useHydrated } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { type MemberView, type SessionView } from "@/lib/contract/console";
import { MIN_PASSWORD, type SignInMethods } from "@/lib/contract/people/sign-in";
import { SettingsPage } from "../settings-tabs";
import { MethodsCard, SessionsCard } from "./methods-card";

const themes = ["system", "light", "dark"] as const;

/** Display settings of this browser; they are not stored with the member. */
function LookCard() {
  const t = useTranslations("settings.profile");
  const theme = useTranslations("frame.theme");
  const language = useTranslations("frame.language");
  const { theme: selectedTheme, setTheme } = useTheme();
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
        <SelectField label={t("theme")} value={isHydrated ? selectedTheme : "system"} onChange={({ target }) => setTheme(target.value)}>
          <Options of={themes.map((name) => [name, theme(name)])} />
        </SelectField>
        <SelectField
          label={t("zone")}
          className="max-w-[300px]"
          value={isHydrated ? (selectedTimeZone() ?? "") : ""}
          onChange={({ target }) => {
            // A reload, so that all times on the page are formatted again.
            if (storeTimeZone(target.value || undefined)) window.location.reload();
          }}
        >
          <option value="">{t("zoneBrowser", { zone: isHydrated ? browserTimeZone() : "…" })}</option>
          {isHydrated
            ? supportedTimeZones().map((zone) => (
                <option key={zone} value={zone}>
                  {zone}
                </option>
              ))
            : null}
        </SelectField>
        <NoticesField />
      </div>
      <p className="text-ink-3">{t("lookText")}</p>
    </Card>
  );
}

/** Absent if the browser doesn't support notifications, for example without https. */
function NoticesField() {
  const t = useTranslations("settings.profile");
  const isHydrated = useHydrated();
  const selectedNotices = useSyncExternalStore(noticeChoice.subscribe, noticeChoice.get, () => undefined) ?? "off";
  if (!isHydrated || typeof Notification === "undefined") return null;
  const isBlocked = selectedNotices !== "off" && Notification.permission === "denied";
  const choose = async (choice: NoticeChoice) => {
    if (choice !== "off" && Notification.permission === "default") await Notification.requestPermission();
    noticeChoice.set(choice);
  };
  return (
    <SelectField
      label={t("notices")}
      error={isBlocked ? t("noticesBlocked") : undefined}
      value={selectedNotices}
      onChange={({ target }) => void choose(noticeChoices.find((choice) => choice === target.value))}
    >
      <Options of={noticeChoices.map((choice) => [choice, t(`notice.${choice}`)])} />
    </SelectField>
  );
}

type AccountScreenProps = { member: MemberView; methods: SignInMethods; sessions: readonly SessionView[] };

export function AccountScreen({ member: { name, email, role, createdAt }, methods, sessions }: AccountScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  return (
    <SettingsPage current="account">
      <p className="text-ink-3">
        {roleName(role)} · {t.rich("members.joined", { time: () => <RelativeTime ms={createdAt} /> })}
      </p>
      {/* The key resets the form after a save. */}
      <NameForm key={name} name={name} />
      {methods.hasFixedAddress ? <FixedEmail email={email} /> : methods.password ? <EmailForm key={email} email={email} /> : null}
      {methods.password ? <PasswordForm email={email} /> : null}
      {methods.providers.length > 0 ? <MethodsCard methods={methods} /> : null}
      <SessionsCard name={name} sessions={sessions} />
      <LookCard />
    </SettingsPage>
  );
}

const fields = ["name", "email", "password", "currentPassword"] as const;
type AccountField = (typeof fields)[number];

/** The state of one account form: whether it is being saved, and which field was refused. */
function useAccount() {
  const router = useRouter();
  const { busyWith, failure, send } = useRequests<"save">();
  const isEmailTaken = failure?.code === "CONFLICT";
  const invalidField: AccountField | undefined = isEmailTaken ? "email" : failure && findInvalidField(failure, fields);
  return {
    isBusy: busyWith !== undefined,
    isTaken: isEmailTaken,
    faulty: invalidField,
    /** A failure that no field caused. */
    failure: invalidField === undefined ? failure : undefined,
    /** True on success. `after` is part of the action: the form stays busy until it ends. */
    async change(json: Partial<Record<AccountField, string>>, after: () => Promise<void> | void): Promise<void> {
      const request = callApi("/api/console/account", { method: "PUT", json });
      const result = await send(
        "save",
        request.then(async (result) => {
          if (result.ok) await after();
          return result;
        }),
      );
      if (result.ok) router.refresh();
    },
  };
}

function NameForm({ name }: { name: string }) {
  const t = useTranslations("settings.profile");
  const wrong = useTranslations("auth.wrong");
  const { change, faulty: invalidField, ...state } = useAccount();
  return (
    <AccountForm
      title={t("you")}
      submit={t("save")}
      {...state}
      onSubmit={(data) => void change({ name: fieldText(data, "name") }, () => showToast({ tone: "ok", text: t("saved") }))}
    >
      <InputField
        label={t("name")}
        hint={t("nameHint")}
        error={invalidField === "name" ? wrong("name") : undefined}
        name="name"
        autoComplete="name"
        required
        maxLength={100}
        defaultValue={name}
      />
    </AccountForm>
  );
}

function EmailForm({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  const wrong = useTranslations("auth.wrong");
  const { change, faulty: invalidField, isTaken: isEmailTaken, ...state } = useAccount();
  return (
    <AccountForm
      title={t("sign")}
      submit={t("changeEmail")}
      {...state}
      onSubmit={(data, form) => {
        const newEmail = fieldText(data, "email").trim().toLowerCase();
        void change({ email: newEmail, currentPassword: fieldText(data, "currentPassword") }, () => {
          showToast({ tone: "ok", text: t("emailChanged", { email: newEmail }) });
          for (const field of form.querySelectorAll<HTMLInputElement>("[type=password]")) field.value = "";
        });
      }}
    >
      <InputField
        label={t("email")}
        hint={t("emailHint")}
        error={invalidField === "email" ? (isEmailTaken ? t("taken") : wrong("email")) : undefined}
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        defaultValue={email}
      />
      <CurrentPasswordField isWrong={invalidField === "currentPassword"} />
    </AccountForm>
  );
}

/** Shown if members are identified by their email address, which then can't be changed. */
function FixedEmail({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  return (
    <Card title={t("sign")} bodyClassName="flex flex-col gap-1">
      <p className="break-words">{email}</p>
      <p className="text-ink-3">{t("fixedEmail")}</p>
    </Card>
  );
}

/** A new password ends every session, so this browser signs in again immediately. */
function PasswordForm({ email }: { email: string }) {
  const t = useTranslations("settings.profile");
  const wrong = useTranslations("auth.wrong");
  const { change, faulty: invalidField, ...state } = useAccount();
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
      {/* For password managers: the account of the new password. */}
      <input type="email" name="username" autoComplete="username" defaultValue={email} hidden readOnly />
      <CurrentPasswordField isWrong={invalidField === "currentPassword"} />
      <FormField
        label={t("newPassword")}
        hint={t("passwordHint", { count: MIN_PASSWORD })}
        error={invalidField === "password" ? wrong("password", { count: MIN_PASSWORD }) : undefined}
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

function CurrentPasswordField({ isWrong }: { isWrong: boolean }) {
  const t = useTranslations("settings.profile");
  return (
    <InputField
      label={t("currentPassword")}
      error={isWrong ? t("wrongPassword") : undefined}
      name="currentPassword"
      type="password"
      autoComplete="current-password"
      required
      maxLength={254}
    />
  );
}
