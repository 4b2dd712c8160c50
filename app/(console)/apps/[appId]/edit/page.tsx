import { type Metadata } from "next";
import { notFound } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { pathParam, textParam } from "@/app/(console)/params";
import { EditAppScreen } from "@/components/apps/make/make-screen";
import { PageMessages } from "@/components/frame/page-header";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("apps"))("edit") };
}

export default async function EditAppPage({ params, searchParams }: PageProps<"/apps/[appId]/edit">) {
  const {
    viewer: { role },
  } = await openPage();
  if (!hasRole(role, "operator")) notFound();
  const id = pathParam((await params).appId);
  return (
    <PageMessages messages={await pickMessages("apps", "run", "masks")}>
      <EditAppScreen key={id} id={id} linked={textParam(await searchParams, "connection")} />
    </PageMessages>
  );
}
