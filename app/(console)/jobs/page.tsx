import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { Suspense } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { toJobsView } from "@/components/jobs/job-row";
import { JobsScreen } from "@/components/jobs/list/jobs-screen";
import { readList } from "@/components/jobs/list/list-address";
import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { withQuery } from "@/lib/browser/urls";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { openPage, redirectInConsole } from "@/lib/server/bff/open-page";
import { roleOn } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { hasManySubmitters, searchJobs } from "@/lib/server/jobs/job-search";
import { listJobs } from "@/lib/server/queries/jobs";
import { defaultView } from "@/lib/server/queries/saved-views";
import { isBareAddress, textParam, toSearchParams } from "../params";
import { endsSoon, stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("jobs"))("title") };
}

export default async function JobsPage({ searchParams }: PageProps<"/jobs">) {
  const context = await openPage();
  const params = await searchParams;
  const { query, ignored } = readList("jobs", toSearchParams(params));
  const connection = textParam(params, "connection");
  const preferred = await defaultView(context, "jobs");
  if (preferred && preferred.query !== "" && isBareAddress(params)) {
    redirectInConsole(withQuery("/jobs", { ...Object.fromEntries(new URLSearchParams(preferred.query)), connection }));
  }
  const reading = isSearch(query) ? searchJobs(context, query, connection) : listJobs(context, query, connection);
  const isTeam = hasManySubmitters(context, connection);
  const jobs = stamp(reading, toJobsView);
  const screen = (
    <JobsScreen
      query={query}
      ignored={ignored}
      connection={connection}
      view={preferred && "all"}
      canRun={context.viewer.can("operator", await roleOn(context, connection))}
      isTeam={await isTeam}
      jobs={jobs}
    />
  );
  return (
    <PageMessages messages={await pickMessages("jobs", "jobList", "acts", "jobSearch")}>
      {(await endsSoon(jobs)) ? screen : <Suspense fallback={<ListSkeleton list="jobs" />}>{screen}</Suspense>}
    </PageMessages>
  );
}
