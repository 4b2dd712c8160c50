import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { Suspense } from "react";
import { APPS_PAGE, appsParams } from "@/components/apps/apps-address";
import { AppsScreen } from "@/components/apps/apps-screen";
import { AppsSkeleton } from "@/components/apps/apps-skeleton";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { PageMessages } from "@/components/frame/page-header";
import { readAddress } from "@/lib/contract/params";
import { listApps } from "@/lib/server/apps/change-app";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { textParam, toSearchParams } from "../params";
import { stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("apps"))("title") };
}

export default async function AppsPage({ searchParams }: PageProps<"/apps">) {
  const context = await openPage();
  const params = await searchParams;
  const { query, ignored } = readAddress(appsParams, toSearchParams(params));
  const linked = textParam(params, "connection");
  const { tag, ...asked } = query;
  const apps = stamp(listApps(context, linked, { ...asked, ...(tag && { tag }), limit: APPS_PAGE }), (answer) => answer);
  return (
    <PageMessages messages={await pickMessages("apps")}>
      <IgnoredValues list={ignored} />
      <Suspense fallback={<AppsSkeleton />}>
        <AppsScreen search={query} linked={linked} canMake={context.viewer.can("operator")} apps={apps} />
      </Suspense>
    </PageMessages>
  );
}
