import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { ConnectionsScreen } from "@/components/settings/connections/connections-screen";
import { openPage } from "@/lib/server/bff/open-page";
import { listConnectionViews, listPersonalConnections } from "@/lib/server/connections/views";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listMembers } from "@/lib/server/queries/members";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings"))("title") };
}

export default async function SettingsPage() {
  const context = await openPage();
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <ConnectionsScreen
        connections={listConnectionViews(context)}
        canChangeShared={context.viewer.can("admin")}
        canAdd={context.viewer.can("operator")}
        viewer={{ memberId: context.viewer.memberId, name: context.viewer.name }}
        team={context.viewer.can("admin") ? { personal: listPersonalConnections(context), members: listMembers(context) } : undefined}
      />
    </PageMessages>
  );
}
