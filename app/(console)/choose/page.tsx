import { type Metadata } from "next";
import { notFound } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { ChooseScreen } from "@/components/embed/choose-screen";
import { PageMessages } from "@/components/frame/page-header";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("embedding.choose"))("title") };
}

/** Only in embedded pages: the choice is sent to the page around. */
export default async function ChoosePage() {
  const {
    viewer: { credential },
  } = await openPage();
  if (credential.kind !== "embed") return notFound();
  return (
    <PageMessages messages={await pickMessages("embedding")}>
      <ChooseScreen origin={credential.origin} />
    </PageMessages>
  );
}
