import { createConsolePage } from "@/app/(console)/console-page";
import { WebhooksScreen } from "@/components/settings/webhooks/webhooks-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { getLayoutData } from "@/lib/server/connections/connection-views";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { listWebhooks } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const generateMetadata = createPageTitle("webhooks.title");

export default createConsolePage(
  ["settings", "webhooks"],
  async (context) => {
    const { viewer, composition } = context;
    const { connections } = await getLayoutData(context);
    return (
      <WebhooksScreen
        role={viewer.role}
        connections={connections.filter(({ shared }) => shared).map(({ id, name }) => ({ id, name }))}
        webhooks={hasRole(viewer.role, "admin") ? listWebhooks(composition).then(ok) : undefined}
      />
    );
  },
  { refuseEmbedded: true },
);
