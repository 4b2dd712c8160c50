import { createConsolePage } from "@/app/(console)/console-page";
import { EmbeddingScreen } from "@/components/settings/embedding/embedding-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { getLayoutData } from "@/lib/server/connections/connection-views";
import { listEmbedHosts } from "@/lib/server/embed/hosts";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { ok } from "@/lib/shared/result";

export const generateMetadata = createPageTitle("embedding.title");

export default createConsolePage(
  ["settings", "embedding"],
  async (context) => {
    const { viewer, composition } = context;
    const { connections } = await getLayoutData(context);
    return (
      <EmbeddingScreen
        role={viewer.role}
        connections={connections.filter(({ shared }) => shared).map(({ id, name }) => ({ id, name }))}
        hosts={hasRole(viewer.role, "admin") ? listEmbedHosts(composition).then(ok) : undefined}
      />
    );
  },
  { refuseEmbedded: true },
);
