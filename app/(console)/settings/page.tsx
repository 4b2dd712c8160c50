import { createConsolePage } from "@/app/(console)/console-page";
import { ConnectionsScreen } from "@/components/settings/connections/connections-screen";
import { listConnectionViews, listPersonalConnections } from "@/lib/server/connections/connection-views";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { listMembers } from "@/lib/server/queries/members";

export const generateMetadata = createPageTitle("settings.title");

export default createConsolePage(["settings"], (context) => (
  <ConnectionsScreen
    connections={listConnectionViews(context)}
    canChangeShared={context.viewer.can("admin")}
    canAdd={context.viewer.can("operator")}
    viewer={{ memberId: context.viewer.memberId, name: context.viewer.name }}
    team={context.viewer.can("admin") ? { personal: listPersonalConnections(context), members: listMembers(context) } : undefined}
  />
));
