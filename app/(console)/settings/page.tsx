import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { SettingsScreen } from "@/components/settings/settings-screen";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { listConnections } from "@/lib/server/queries/connections";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings"))("title") };
}

export default async function SettingsPage() {
  const viewer = await requireViewer();
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <SettingsScreen connections={listConnections(viewer)} canChangeShared={viewer.can("admin")} canAdd={viewer.can("operator")} />
    </PageMessages>
  );
}
