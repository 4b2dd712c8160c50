import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { SharesScreen } from "@/components/settings/shares-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listShares, sharesAreOn } from "@/lib/server/queries/shares";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("sharing.list"))("title") };
}

export default async function SharesPage() {
  const context = await openPage({ isOwn: true });
  const shares = hasRole(context.viewer.role, "operator") ? await listShares(context) : undefined;
  return (
    <PageMessages messages={await pickMessages("settings", "sharing")}>
      <SharesScreen role={context.viewer.role} shares={shares} isOn={sharesAreOn(context.composition)} />
    </PageMessages>
  );
}
