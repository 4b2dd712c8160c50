import { redirect } from "next/navigation";
import { getTranslations } from "next-intl/server";
import { getTextParam } from "@/app/(console)/params";
import { DoctorScreen } from "@/components/embed/doctor-screen";
import { PageMessages } from "@/components/frame/page-header";
import { FullPageMessage } from "@/components/ui/empty-state";
import { findCurrentEmbedHost, findEmbedHost } from "@/lib/server/bff/open-page";
import { createPageTitle, pickMessages } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("embedding.doctor.title");

/** Needs no sign-in, because it reveals only what a host page could find out itself. */
export default async function DoctorPage({ searchParams }: PageProps<"/embed/doctor">) {
  const params = await searchParams;
  const origin = getTextParam(params, "origin") ?? "";
  const host = await findCurrentEmbedHost();
  if (host) {
    return (
      <PageMessages messages={await pickMessages("embedding")}>
        <main>
          <DoctorScreen origins={host.origins} origin={origin} />
        </main>
      </PageMessages>
    );
  }
  const namedHost = await findEmbedHost(getTextParam(params, "host") ?? "");
  if (namedHost) redirect(`/embed/${namedHost.id}/doctor00/doctor?origin=${encodeURIComponent(origin)}`);
  const t = await getTranslations("embedding.doctor");
  return <FullPageMessage title={t("title")} text={t("whichHost")} />;
}
