import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { stamp } from "@/app/(console)/stamp";
import { PageMessages } from "@/components/frame/page-header";
import { RunnersScreen } from "@/components/settings/runners/runners-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { type Runner } from "@/lib/contract/runners/runners";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listRunners } from "@/lib/server/queries/runners";
import { ok } from "@/lib/shared/result";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("runners"))("title") };
}

export default async function RunnersPage() {
  const { viewer, composition } = await openPage();
  return (
    <PageMessages messages={await pickMessages("settings", "runners")}>
      <RunnersScreen
        role={viewer.role}
        canChange={viewer.can("admin")}
        runners={
          hasRole(viewer.role, "admin")
            ? stamp(listRunners(composition).then(ok), ({ runners }: { runners: Runner[] }) => runners)
            : undefined
        }
      />
    </PageMessages>
  );
}
