import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { EmbeddingScreen } from "@/components/settings/embedding/embedding-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { getFrame } from "@/lib/server/connections/views";
import { listEmbedHosts } from "@/lib/server/embed/hosts";
import { pickMessages } from "@/lib/server/i18n/messages";
import { ok } from "@/lib/shared/result";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("embedding"))("title") };
}

export default async function EmbeddingPage() {
  const viewer = await requireViewer({ isOwn: true });
  const isKeeper = hasRole(viewer.role, "admin");
  const { connections } = await getFrame(viewer);
  return (
    <PageMessages messages={await pickMessages("settings", "embedding")}>
      <EmbeddingScreen
        role={viewer.role}
        connections={connections.filter(({ shared }) => shared).map(({ id, name }) => ({ id, name }))}
        hosts={isKeeper ? listEmbedHosts().then(ok) : undefined}
      />
    </PageMessages>
  );
}
