import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { toJobsView } from "@/components/jobs/job-row";
import { JobsScreen } from "@/components/jobs/jobs-screen";
import { hasRole } from "@/lib/contract/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { listJobs } from "@/lib/server/queries/jobs";
import { stamp } from "../stamp";
import { IgnoredValues } from "./ignored-values";
import { parseJobsQuery, textParam } from "./jobs-query";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("jobs"))("title") };
}

export default async function JobsPage({ searchParams }: PageProps<"/jobs">) {
  const viewer = await requireViewer();
  const params = await searchParams;
  const { query, ignored } = parseJobsQuery(params);
  const connection = textParam(params, "connection");
  const jobs = stamp(listJobs(viewer, query, connection), toJobsView);
  return (
    <PageMessages messages={pickMessages("jobs")}>
      <IgnoredValues list={ignored} />
      <JobsScreen key={JSON.stringify(query)} query={query} connection={connection} canRun={hasRole(viewer.role, "operator")} jobs={jobs} />
    </PageMessages>
  );
}
