import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { ConnectionsScreen } from "@/components/settings/connections/connections-screen";
import { requireViewer } from "@/lib/server/auth/viewer";
import { listConnectionViews, listPersonalConnections } from "@/lib/server/connections/views";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listMembers } from "@/lib/server/queries/members";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings"))("title") };
}

export default async function SettingsPage() {
  const viewer = await requireViewer();
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <ConnectionsScreen
        connections={listConnectionViews(viewer)}
        canChangeShared={viewer.can("admin")}
        canAdd={viewer.can("operator")}
        viewer={{ memberId: viewer.memberId, name: viewer.name }}
        team={viewer.can("admin") ? { personal: listPersonalConnections(viewer), members: listMembers(viewer) } : undefined}
      />
    </PageMessages>
  );
}
