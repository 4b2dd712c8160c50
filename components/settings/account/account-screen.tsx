"use client";

import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { type FormEvent, type ReactNode, useSyncExternalStore } from "react";
import { NewPasswordInput } from "@/components/frame/account/sign-in-fields";
import { LanguageSwitch } from "@/components/frame/appearance/language-switch";
import { themes } from "@/components/frame/appearance/theme";
import { FailureMessage, findInvalidField } from "@/components/frame/failure/failure-message";
import { type NotificationChoice, notificationChoice, notificationChoices } from "@/components/frame/own-jobs";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { FormField, getFieldText, InputField, Options, SelectField } from "@/components/ui/controls/fields";
import { useRouter } from "@/components/ui/link";
import {
  getBrowserTimeZone,
  getSelectedTimeZone,
  getSupportedTimeZones,
  RelativeTime,
  storeTimeZone,
  useHydrated,
} from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { signIn } from "@/lib/browser/session";
import { apiPath } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { type MemberView, type SessionView } from "@/lib/contract/console";
import { MIN_PASSWORD_LENGTH, type SignInMethods } from "@/lib/contract/members/sign-in";
import { SettingsPage } from "../settings-tabs";
import { SessionsCard, SignInMethodsCard } from "./sign-in-methods-card";

/** Display settings, which are stored only in this browser. */
function AppearanceCard() {
  const t = useTranslations("settings.profile");
  const themeTexts = useTranslations("frame.theme");
  const languageTexts = useTranslations("frame.language");
  const { theme: selectedTheme, setTheme } = useTheme();
  const isHydrated = useHydrated();
  return (
    <Card title={t("look")} bodyClassName="flex flex-col gap-3.5">
      <div className="flex flex-wrap gap-x-6 gap-y-3.5">
        <div className="flex flex-col gap-1">
          <span aria-hidden="true" className="font-medium">
            {languageTexts("label")}
          </span>
          <LanguageSwitch />
        </div>
        <SelectField label={t("theme")} value={isHydrated ? selectedTheme : "system"} onChange={({ target }) => setTheme(target.value)}>
          <Options of={themes.map((name) => [name, themeTexts(name)])} />
        </SelectField>
        <SelectField
          label={t("zone")}
          className="max-w-[300px]"
          value={isHydrated ? (getSelectedTimeZone() ?? "") : ""}
          onChange={({ target }) => {
            // Reloads the page to reformat all times.
            if (storeTimeZone(target.value || undefined)) window.location.reload();
          }}
        >
          <option value="">{t("zoneBrowser", { zone: isHydrated ? getBrowserTimeZone() : "…" })}</option>
          {isHydrated
            ? getSupportedTimeZones().map((zone) => (
                <option key={zone} value={zone}>
                  {zone}
                </option>
              ))
            : null}
        </SelectField>
        <NotificationsField />
      </div>
      <p className="text-ink-3">{t("lookText")}</p>
    </Card>
  );
}

/** Hidden if the browser doesn't support notifications, for example without HTTPS. */
function NotificationsField() {
  const t = useTranslations("settings.profile");
  const isHydrated = useHydrated();
  const selectedChoice = useSyncExternalStore(notificationChoice.subscribe, notificationChoice.get, () => undefined) ?? "off";
  if (!isHydrated || typeof Notification === "undefined") return null;
  const isBlocked = selectedChoice !== "off" && Notification.permission === "denied";
  const selectChoice = async (choice: NotificationChoice) => {
    if (choice !== "off" && Notification.permission === "default") await Notification.requestPermission();
    notificationChoice.set(choice);
  };
  return (
    <SelectField
      label={t("notices")}
      error={isBlocked ? t("noticesBlocked") : undefined}
      value={selectedChoice}
      onChange={({ target }) => void selectChoice(notificationChoices.find((choice) => choice === target.value))}
    >
      <Options of={notificationChoices.map((choice) => [choice, t(`notice.${choice}`)])} />
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
      {methods.providers.length > 0 ? <SignInMethodsCard methods={methods} /> : null}
      <SessionsCard name={name} sessions={sessions} />
      <AppearanceCard />
    </SettingsPage>
  );
}

const fields = ["name", "email", "password", "currentPassword"] as const;
type AccountField = (typeof fields)[number];

/** The state of an account form, including whether it is saving and which field is invalid. */
function useAccount() {
  const router = useRouter();
  const { busyWith, failure, send } = useRequests<"save">();
  const isEmailTaken = failure?.code === "CONFLICT";
  const invalidField: AccountField | undefined = isEmailTaken ? "email" : failure && findInvalidField(failure, fields);
  return {
    isBusy: busyWith !== undefined,
    isEmailTaken,
    invalidField,
    /** A failure that doesn't concern a field. */
    failure: invalidField === undefined ? failure : undefined,
    /** Saves the change. The form stays busy until `onSuccess` completes. */
    async updateAccount(json: Partial<Record<AccountField, string>>, onSuccess: () => Promise<void> | void): Promise<void> {
      const request = callApi("/api/console/account", { method: "PUT", json });
      const result = await send(
        "save",
        request.then(async (result) => {
          if (result.ok) await onSuccess();
          return result;
        }),
      );
      if (result.ok) router.refresh();
    },
  };
}

function NameForm({ name }: { name: string }) {
  const t = useTranslations("settings.profile");
  const errorTexts = useTranslations("auth.wrong");
  const { updateAccount, invalidField, ...state } = useAccount();
  return (
    <AccountForm
      title={t("you")}
      submitLabel={t("save")}
      {...state}
      onSubmit={(data) => void updateAccount({ name: getFieldText(data, "name") }, () => showToast({ tone: "ok", text: t("saved") }))}
    >
      <InputField
        label={t("name")}
        hint={t("nameHint")}
        error={invalidField === "name" ? errorTexts("name") : undefined}
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
  const errorTexts = useTranslations("auth.wrong");
  const { updateAccount, invalidField, isEmailTaken, ...state } = useAccount();
  return (
    <AccountForm
      title={t("sign")}
      submitLabel={t("changeEmail")}
      {...state}
      onSubmit={(data, form) => {
        const newEmail = getFieldText(data, "email").trim().toLowerCase();
        void updateAccount({ email: newEmail, currentPassword: getFieldText(data, "currentPassword") }, () => {
          showToast({ tone: "ok", text: t("emailChanged", { email: newEmail }) });
          for (const field of form.querySelectorAll<HTMLInputElement>("[type=password]")) field.value = "";
        });
      }}
    >
      <InputField
        label={t("email")}
        hint={t("emailHint")}
        error={invalidField === "email" ? (isEmailTaken ? t("taken") : errorTexts("email")) : undefined}
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        defaultValue={email}
      />
      <CurrentPasswordField isInvalid={invalidField === "currentPassword"} />
    </AccountForm>
  );
}

/** Shown if members are identified by their email address, so that it can't be changed. */
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
  const errorTexts = useTranslations("auth.wrong");
  const { updateAccount, invalidField, ...state } = useAccount();
  return (
    <AccountForm
      title={t("password")}
      submitLabel={t("changePassword")}
      {...state}
      onSubmit={(data, form) => {
        const password = getFieldText(data, "password");
        void updateAccount({ password, currentPassword: getFieldText(data, "currentPassword") }, async () => {
          if ((await signIn({ email, password })) !== "signed-in") return window.location.assign(apiPath("/sign-in"));
          form.reset();
          showToast({ tone: "ok", text: t("passwordChanged") });
        });
      }}
    >
      {/* For password managers: the account of the new password. */}
      <input type="email" name="username" autoComplete="username" defaultValue={email} hidden readOnly />
      <CurrentPasswordField isInvalid={invalidField === "currentPassword"} />
      <FormField
        label={t("newPassword")}
        hint={t("passwordHint", { count: MIN_PASSWORD_LENGTH })}
        error={invalidField === "password" ? errorTexts("password", { count: MIN_PASSWORD_LENGTH }) : undefined}
      >
        {(control) => <NewPasswordInput {...control} />}
      </FormField>
    </AccountForm>
  );
}

type AccountFormProps = {
  title: string;
  submitLabel: string;
  isBusy: boolean;
  failure?: ApiFailure;
  onSubmit: (data: FormData, form: HTMLFormElement) => void;
  children: ReactNode;
};

function AccountForm({ title, submitLabel, isBusy, failure, onSubmit, children }: AccountFormProps) {
  const t = useTranslations("settings.profile");
  function handleSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget), event.currentTarget);
  }
  return (
    <Card title={title}>
      <form method="post" onSubmit={handleSubmit} className="flex max-w-[420px] flex-col gap-3.5">
        {failure ? <FailureMessage failure={failure} /> : null}
        {children}
        <div>
          <Button type="submit" busy={isBusy}>
            {isBusy ? t("saving") : submitLabel}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function CurrentPasswordField({ isInvalid }: { isInvalid: boolean }) {
  const t = useTranslations("settings.profile");
  return (
    <InputField
      label={t("currentPassword")}
      error={isInvalid ? t("wrongPassword") : undefined}
      name="currentPassword"
      type="password"
      autoComplete="current-password"
      required
      maxLength={254}
    />
  );
}
