import { createConsolePage } from "@/app/(console)/console-page";
import { SharesScreen } from "@/components/settings/shares-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { areSharesEnabled, listShares } from "@/lib/server/queries/shares";

export const generateMetadata = createPageTitle("sharing.list.title");

export default createConsolePage(
  ["settings", "sharing"],
  async (context) => {
    const { role } = context.viewer;
    const shares = hasRole(role, "operator") ? await listShares(context) : undefined;
    return <SharesScreen role={role} shares={shares} isSharingEnabled={areSharesEnabled(context.composition)} />;
  },
  { refuseEmbedded: true },
);
