import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { cache, Suspense } from "react";
import { pathParam, textParam } from "@/app/(console)/params";
import { stamp } from "@/app/(console)/stamp";
import { AppScreen } from "@/components/apps/app-screen";
import { AppSkeleton } from "@/components/apps/apps-skeleton";
import { PageMessages } from "@/components/frame/page-header";
import { readApp } from "@/lib/server/apps/open-app";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";

/** The title and the page share one read of the app. */
const appOnce = cache(async (id: string) => readApp(await openPage(), id));

export async function generateMetadata({ params }: PageProps<"/apps/[appId]">): Promise<Metadata> {
  const app = await appOnce(pathParam((await params).appId));
  return { title: app.ok ? app.value.title : (await getTranslations("apps"))("title") };
}

export default async function AppPage({ params, searchParams }: PageProps<"/apps/[appId]">) {
  await openPage();
  const id = pathParam((await params).appId);
  const app = stamp(appOnce(id), (value) => value);
  return (
    <PageMessages messages={await pickMessages("apps", "run", "masks", "viewer")}>
      <Suspense fallback={<AppSkeleton />}>
        <AppScreen key={id} id={id} linked={textParam(await searchParams, "connection")} app={app} />
      </Suspense>
    </PageMessages>
  );
}
