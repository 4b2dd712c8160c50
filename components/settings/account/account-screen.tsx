import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type MemberView, type SessionView } from "@/lib/contract/console";
import { type SignInMethods } from "@/lib/contract/people/sign-in";
import { SettingsTabs } from "../settings-tabs";
import { EmailForm, FixedEmail, NameForm, PasswordForm } from "./account-forms";
import { LookCard } from "./look-card";
import { MethodsCard } from "./methods-card";
import { SessionsCard } from "./sessions-card";

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
