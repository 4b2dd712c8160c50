import { Suspense } from "react";
import { createConsolePage } from "@/app/(console)/console-page";
import { AppsScreen } from "@/components/apps/apps-screen";
import { APPS_PAGE_SIZE, appsParams } from "@/components/apps/apps-urls";
import { IgnoredValues } from "@/components/frame/list/tool-bar";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { parseSearch } from "@/lib/contract/params";
import { listApps } from "@/lib/server/apps/change-app";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { withRequestTime } from "../console-page";
import { toSearchParams } from "../params";

export const generateMetadata = createPageTitle("apps.title");

export default createConsolePage(["apps"], (context, { search, connection }) => {
  const { query, ignored } = parseSearch(appsParams, toSearchParams(search));
  const { tag, ...listQuery } = query;
  const apps = withRequestTime(
    listApps(context, connection, { ...listQuery, ...(tag && { tag }), limit: APPS_PAGE_SIZE }),
    (response) => response,
  );
  return (
    <>
      <IgnoredValues list={ignored} />
      <Suspense fallback={<PageSkeleton page="apps" tools layout="cards" />}>
        <AppsScreen search={query} canCreate={context.viewer.can("operator")} apps={apps} />
      </Suspense>
    </>
  );
});
