import { type Metadata } from "next";
import { notFound } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { ChooseScreen } from "@/components/embed/choose-screen";
import { EmbedShell } from "@/components/embed/embed-shell";
import { PageMessages } from "@/components/frame/page-messages";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { getFrame } from "@/lib/server/queries/frame";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("embedding.choose"))("title") };
}

export default async function ChoosePage() {
  const viewer = await requireViewer();
  const { credential, role } = viewer;
  if (credential.kind !== "embed") return notFound();
  const { connection, connections } = await getFrame(viewer);
  const { origin, leftMs } = credential;
  return (
    <PageMessages messages={await pickMessages("embedding")}>
      <EmbedShell role={role} session={{ origin, leftMs }} connections={connections} currentId={connection?.id}>
        <ChooseScreen origin={origin} />
      </EmbedShell>
    </PageMessages>
  );
}
