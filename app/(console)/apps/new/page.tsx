import { type Metadata } from "next";
import { notFound } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { textParam } from "@/app/(console)/params";
import { NewAppScreen } from "@/components/apps/make/make-screen";
import { PageMessages } from "@/components/frame/page-header";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("apps.make"))("new") };
}

export default async function NewAppPage({ searchParams }: PageProps<"/apps/new">) {
  const {
    viewer: { memberId, role },
  } = await openPage();
  if (!hasRole(role, "operator")) notFound();
  const params = await searchParams;
  return (
    <PageMessages messages={await pickMessages("apps", "run", "masks")}>
      <NewAppScreen memberId={memberId} linked={textParam(params, "connection")} job={textParam(params, "job")} />
    </PageMessages>
  );
}
