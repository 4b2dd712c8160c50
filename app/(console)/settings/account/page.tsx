import { redirect } from "next/navigation";
import { createConsolePage } from "@/app/(console)/console-page";
import { AccountScreen } from "@/components/settings/account/account-screen";
import { listSessions } from "@/lib/server/auth/account";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { getAccount, getSignInMethods } from "@/lib/server/queries/members";

export const generateMetadata = createPageTitle("settings.profile.title");

export default createConsolePage(
  ["settings", "auth"],
  async (context) => {
    const [member, methods, sessions] = await Promise.all([getAccount(context), getSignInMethods(context), listSessions(context)]);
    return member ? <AccountScreen member={member} methods={methods} sessions={sessions} /> : redirect("/sign-in");
  },
  { refuseEmbedded: true },
);
