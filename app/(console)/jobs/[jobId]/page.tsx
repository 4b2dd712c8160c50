import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { JobScreen } from "@/components/jobs/job-screen";
import { toJobFacts } from "@/components/jobs/job-facts";
import { hasRole } from "@/lib/contract/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { getJob } from "@/lib/server/queries/jobs";
import { stamp } from "@/app/(console)/stamp";
import { pathParam, textParam } from "../jobs-query";

export async function generateMetadata({ params }: PageProps<"/jobs/[jobId]">): Promise<Metadata> {
  const t = await getTranslations("jobs.job");
  return { title: t("heading", { id: (await params).jobId.slice(0, 8) }) };
}

export default async function JobPage({ params, searchParams }: PageProps<"/jobs/[jobId]">) {
  const viewer = await requireViewer();
  const jobId = pathParam((await params).jobId);
  const connection = textParam(await searchParams, "connection");
  const job = stamp(getJob(viewer, jobId, connection), ({ detail, status }) => toJobFacts(detail, status));
  return (
    <PageMessages messages={await pickMessages("jobs", "graph", "viewer")}>
      <JobScreen key={jobId} jobId={jobId} connection={connection} canRun={hasRole(viewer.role, "operator")} job={job} />
    </PageMessages>
  );
}
