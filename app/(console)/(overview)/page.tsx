import { getLocale } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { getUnavailableRunners, listQueries, type OverviewList, toOverviewJobs } from "@/components/overview/overview-jobs";
import { OverviewScreen } from "@/components/overview/overview-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { getRoleForConnection } from "@/lib/server/connections/access";
import { createPageTitle, messagesByLanguage, pickMessages } from "@/lib/server/i18n/messages";
import { hasSubmittedJobs, listJobs } from "@/lib/server/queries/jobs";
import { listRunners } from "@/lib/server/queries/runners";
import { ok } from "@/lib/shared/result";
import { withRequestTime } from "../console-page";

export const generateMetadata = createPageTitle("overview.title");

const newestFirst = { sort_by: "create_time", sort_order: "desc", offset: 0 } as const;

export default async function OverviewPage({ searchParams }: PageProps<"/">) {
  const context = await openPage();
  const { connection } = await searchParams;
  const isAdmin = hasRole(context.viewer.role, "admin");
  const connectionParam = typeof connection === "string" ? connection : undefined;
  const pendingJobs = listJobs(context, { ...newestFirst, limit: 1 }, connectionParam);
  const readJobs = (name: OverviewList) =>
    withRequestTime(listJobs(context, { ...newestFirst, ...listQueries[name] }, connectionParam), toOverviewJobs);
  return (
    <PageMessages messages={await getOverviewMessages()}>
      <OverviewScreen
        canRun={context.viewer.can("operator", await getRoleForConnection(context, connectionParam))}
        canManage={isAdmin}
        runners={isAdmin ? withRequestTime(listRunners(context.composition).then(ok), getUnavailableRunners) : undefined}
        total={withRequestTime(pendingJobs, ({ pagination }) => pagination.total)}
        hasSubmittedJobs={pendingJobs.then(
          (result) => result.ok && result.value.pagination.total === 0 && hasSubmittedJobs(context, connectionParam),
        )}
        jobLists={{ running: readJobs("running"), failed: readJobs("failed"), pictures: readJobs("pictures") }}
      />
    </PageMessages>
  );
}

/** Includes only the action labels of the settings messages. */
async function getOverviewMessages() {
  const { does, tried } = messagesByLanguage[await getLocale()].settings.audit;
  return { ...(await pickMessages("overview", "samples")), settings: { audit: { does, tried } } };
}
