import { type Metadata } from "next";
import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { AccountScreen } from "@/components/settings/account/account-screen";
import { listSessions } from "@/lib/server/auth/account";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getAccount } from "@/lib/server/queries/members";
import { getSignInMethods } from "@/lib/server/queries/sign-in";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings.profile"))("title") };
}

export default async function AccountPage() {
  const context = await openPage({ isOwn: true });
  const [member, methods, sessions] = await Promise.all([getAccount(context), getSignInMethods(context), listSessions(context)]);
  if (!member) return redirect("/sign-in");
  return (
    <PageMessages messages={await pickMessages("settings", "auth")}>
      <AccountScreen member={member} methods={methods} sessions={sessions} />
    </PageMessages>
  );
}
