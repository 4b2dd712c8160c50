import { consolePage } from "@/app/(console)/console-page";
import { SharesScreen } from "@/components/settings/shares-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { pageTitle } from "@/lib/server/i18n/messages";
import { areSharesEnabled, listShares } from "@/lib/server/queries/shares";

export const generateMetadata = pageTitle("sharing.list.title");

export default consolePage(
  ["settings", "sharing"],
  async (context) => {
    const { role } = context.viewer;
    const shares = hasRole(role, "operator") ? await listShares(context) : undefined;
    return <SharesScreen role={role} shares={shares} isOn={areSharesEnabled(context.composition)} />;
  },
  { refuseEmbedded: true },
);
