import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { EmbeddingScreen } from "@/components/settings/embedding/embedding-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { getFrame } from "@/lib/server/connections/views";
import { listEmbedHosts } from "@/lib/server/embed/hosts";
import { pickMessages } from "@/lib/server/i18n/messages";
import { ok } from "@/lib/shared/result";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("embedding"))("title") };
}

export default async function EmbeddingPage() {
  const context = await openPage({ isOwn: true });
  const isKeeper = hasRole(context.viewer.role, "admin");
  const { connections } = await getFrame(context);
  return (
    <PageMessages messages={await pickMessages("settings", "embedding")}>
      <EmbeddingScreen
        role={context.viewer.role}
        connections={connections.filter(({ shared }) => shared).map(({ id, name }) => ({ id, name }))}
        hosts={isKeeper ? listEmbedHosts(context.composition).then(ok) : undefined}
      />
    </PageMessages>
  );
}
