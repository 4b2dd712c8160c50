import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { Suspense } from "react";
import { toAssetPage } from "@/components/assets/assets-address";
import { AssetsScreen } from "@/components/assets/assets-screen";
import { AssetsSkeleton } from "@/components/assets/assets-skeleton";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { PageMessages } from "@/components/frame/page-header";
import { withQuery } from "@/lib/browser/urls";
import { openPage, redirectInConsole } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listAssets } from "@/lib/server/queries/assets";
import { defaultView } from "@/lib/server/queries/saved-views";
import { isBareAddress, textParam } from "../params";
import { stamp } from "../stamp";
import { firstRead, parseAssetsQuery } from "./assets-query";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("assets"))("title") };
}

export default async function AssetsPage({ searchParams }: PageProps<"/assets">) {
  const context = await openPage();
  const params = await searchParams;
  const { query: asked, look, ignored } = parseAssetsQuery(params);
  const query = firstRead(asked, look);
  const connection = textParam(params, "connection");
  const preferred = await defaultView(context, "assets");
  if (preferred && preferred.query !== "" && isBareAddress(params)) {
    redirectInConsole(withQuery("/assets", { ...Object.fromEntries(new URLSearchParams(preferred.query)), connection }));
  }
  const assets = stamp(listAssets(context, query, connection), toAssetPage);
  return (
    <PageMessages messages={await pickMessages("assets", "viewer", "sharing")}>
      <IgnoredValues list={ignored} />
      <Suspense fallback={<AssetsSkeleton look={look} />}>
        <AssetsScreen
          query={query}
          connection={connection}
          view={preferred && "all"}
          canChange={context.viewer.can("operator")}
          assets={assets}
        />
      </Suspense>
    </PageMessages>
  );
}
