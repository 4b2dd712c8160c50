import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { SharesScreen } from "@/components/settings/shares-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listShares, sharesAreOn } from "@/lib/server/queries/shares";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("sharing.list"))("title") };
}

export default async function SharesPage() {
  const viewer = await requireViewer({ isOwn: true });
  const shares = hasRole(viewer.role, "operator") ? await listShares(viewer) : undefined;
  return (
    <PageMessages messages={await pickMessages("settings", "sharing")}>
      <SharesScreen role={viewer.role} shares={shares} isOn={sharesAreOn()} />
    </PageMessages>
  );
}
