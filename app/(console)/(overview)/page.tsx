import { getLocale } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { type Question, questions, toOverviewJobs, unavailableRunners } from "@/components/overview/overview-jobs";
import { OverviewScreen } from "@/components/overview/overview-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { getRoleOn } from "@/lib/server/connections/access";
import { messagesByLanguage, pageTitle, pickMessages } from "@/lib/server/i18n/messages";
import { hasRunJobs, listJobs } from "@/lib/server/queries/jobs";
import { listRunners } from "@/lib/server/queries/runners";
import { ok } from "@/lib/shared/result";
import { withRequestTime } from "../console-page";

export const generateMetadata = pageTitle("overview.title");

const newestFirst = { sort_by: "create_time", sort_order: "desc", offset: 0 } as const;

export default async function OverviewPage({ searchParams }: PageProps<"/">) {
  const context = await openPage();
  const { connection } = await searchParams;
  const isAdmin = hasRole(context.viewer.role, "admin");
  const connectionParam = typeof connection === "string" ? connection : undefined;
  const jobs = listJobs(context, { ...newestFirst, limit: 1 }, connectionParam);
  const readJobs = (name: Question) =>
    withRequestTime(listJobs(context, { ...newestFirst, ...questions[name] }, connectionParam), toOverviewJobs);
  return (
    <PageMessages messages={await pickOverviewMessages()}>
      <OverviewScreen
        canRun={context.viewer.can("operator", await getRoleOn(context, connectionParam))}
        canManage={isAdmin}
        runners={isAdmin ? withRequestTime(listRunners(context.composition).then(ok), unavailableRunners) : undefined}
        total={withRequestTime(jobs, ({ pagination }) => pagination.total)}
        wasUsed={jobs.then((result) => result.ok && result.value.pagination.total === 0 && hasRunJobs(context, connectionParam))}
        reads={{ running: readJobs("running"), failed: readJobs("failed"), pictures: readJobs("pictures") }}
      />
    </PageMessages>
  );
}

/** Of the settings messages, only the action labels are needed. */
async function pickOverviewMessages() {
  const { does, tried } = messagesByLanguage[await getLocale()].settings.audit;
  return { ...(await pickMessages("overview", "samples")), settings: { audit: { does, tried } } };
}
