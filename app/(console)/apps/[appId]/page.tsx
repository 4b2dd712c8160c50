import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { AppScreen } from "@/components/apps/app-screen";
import { PageMessages } from "@/components/frame/page-messages";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { pathParam, textParam } from "@/app/(console)/params";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("apps"))("title") };
}

export default async function AppPage({ params, searchParams }: PageProps<"/apps/[appId]">) {
  await requireViewer();
  const id = pathParam((await params).appId);
  return (
    <PageMessages messages={await pickMessages("apps", "run", "masks", "viewer")}>
      <AppScreen key={id} id={id} linked={textParam(await searchParams, "connection")} />
    </PageMessages>
  );
}
