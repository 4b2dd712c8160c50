import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { cache, Suspense } from "react";
import { withRequestTime } from "@/app/(console)/console-page";
import { decodePathParam, getTextParam } from "@/app/(console)/params";
import { PageMessages } from "@/components/frame/page-header";
import { getCustomWorkflowName, toJobFacts } from "@/components/jobs/job/job-facts";
import { JobScreen } from "@/components/jobs/job/job-screen";
import { openPage, redirectInConsole } from "@/lib/server/bff/open-page";
import { getRoleForConnection } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { findConnectionWithJob } from "@/lib/server/jobs/job-search";
import { getJob } from "@/lib/server/queries/jobs";
import { withTimeout } from "@/lib/shared/async";

/** Maximum time that an unresponsive service may delay the title. */
const MAX_TITLE_WAIT_MS = 1_000;

const openPageOnce = cache(openPage);
/** Cached per request, because title and page share one read. */
const getJobOnce = cache(async (jobId: string, connection: string | undefined) => getJob(await openPageOnce(), jobId, connection));

export async function generateMetadata({ params, searchParams }: PageProps<"/jobs/[jobId]">): Promise<Metadata> {
  const t = await getTranslations("jobs.job");
  const jobId = decodePathParam((await params).jobId);
  const job = await withTimeout(getJobOnce(jobId, getTextParam(await searchParams, "connection")), MAX_TITLE_WAIT_MS, () => undefined);
  const id = jobId.slice(0, 8);
  const workflow = job?.ok ? getCustomWorkflowName(toJobFacts(job.value.detail)) : undefined;
  return { title: workflow === undefined ? t("heading", { id }) : t("named", { workflow, id }) };
}

export default async function JobPage({ params, searchParams }: PageProps<"/jobs/[jobId]">) {
  const context = await openPageOnce();
  const jobId = decodePathParam((await params).jobId);
  const connection = getTextParam(await searchParams, "connection");
  const job = withRequestTime(getJobOnce(jobId, connection), ({ detail, status }) => toJobFacts(detail, status));
  return (
    <PageMessages messages={await pickMessages("jobs", "acts", "graph", "viewer", "sharing")}>
      {connection === undefined ? (
        <Suspense fallback={null}>
          <JobRedirect jobId={jobId} />
        </Suspense>
      ) : null}
      <JobScreen
        key={jobId}
        jobId={jobId}
        connection={connection}
        canRun={context.viewer.can("operator", await getRoleForConnection(context, connection))}
        job={job}
      />
    </PageMessages>
  );
}

/** A link without a connection may come from a member with another current connection. Redirects to the connection that has the job. */
async function JobRedirect({ jobId }: { jobId: string }): Promise<null> {
  const job = await getJobOnce(jobId, undefined);
  const connection = job.ok || job.failure.code !== "NOT_FOUND" ? undefined : await findConnectionWithJob(await openPageOnce(), jobId);
  // The job index may be outdated.
  if (connection !== undefined && (await getJob(await openPageOnce(), jobId, connection)).ok)
    redirectInConsole(`/jobs/${encodeURIComponent(jobId)}?connection=${connection}`);
  return null;
}
