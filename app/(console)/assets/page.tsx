import { Suspense } from "react";
import { AssetsScreen } from "@/components/assets/assets-screen";
import { toAssetPage } from "@/components/assets/assets-urls";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { PageMessages } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { openPage } from "@/lib/server/bff/open-page";
import { createPageTitle, pickMessages } from "@/lib/server/i18n/messages";
import { listAssets } from "@/lib/server/queries/assets";
import { withRequestTime } from "../console-page";
import { getTextParam, parseAssetsQuery, redirectToDefaultView, toFirstQuery } from "../params";

export const generateMetadata = createPageTitle("assets.title");

export default async function AssetsPage({ searchParams }: PageProps<"/assets">) {
  const context = await openPage();
  const params = await searchParams;
  const { query: listQuery, look, ignored } = parseAssetsQuery(params);
  const query = toFirstQuery(listQuery, look);
  const connection = getTextParam(params, "connection");
  const view = await redirectToDefaultView(context, "assets", params);
  const assets = withRequestTime(listAssets(context, query, connection), toAssetPage);
  return (
    <PageMessages messages={await pickMessages("assets", "savedViews", "viewer", "sharing")}>
      <IgnoredValues list={ignored} />
      <Suspense fallback={<PageSkeleton page="assets" tools layout={look.look === "table" ? "rows" : "cards"} />}>
        <AssetsScreen query={query} connection={connection} view={view} canChange={context.viewer.can("operator")} assets={assets} />
      </Suspense>
    </PageMessages>
  );
}
