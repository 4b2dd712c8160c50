import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { cache, Suspense } from "react";
import { withRequestTime } from "@/app/(console)/console-page";
import { decodePathParam } from "@/app/(console)/params";
import { AppScreen } from "@/components/apps/app-screen";
import { PageMessages } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { readApp } from "@/lib/server/apps/open-app";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";

/** Cached per request, because title and page share one read. */
const readAppOnce = cache(async (id: string) => readApp(await openPage(), id));

export async function generateMetadata({ params }: PageProps<"/apps/[appId]">): Promise<Metadata> {
  const app = await readAppOnce(decodePathParam((await params).appId));
  return { title: app.ok ? app.value.title : (await getTranslations("apps"))("title") };
}

export default async function AppPage({ params }: PageProps<"/apps/[appId]">) {
  await openPage();
  const id = decodePathParam((await params).appId);
  const app = withRequestTime(readAppOnce(id), (value) => value);
  return (
    <PageMessages messages={await pickMessages("apps", "run", "masks", "viewer")}>
      <Suspense fallback={<PageSkeleton page="apps" layout="split" />}>
        <AppScreen key={id} id={id} app={app} />
      </Suspense>
    </PageMessages>
  );
}
