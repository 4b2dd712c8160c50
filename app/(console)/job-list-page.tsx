import { type ReactElement, Suspense } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { type JobsView, toJobsView } from "@/components/jobs/job-row";
import { type JobListProps } from "@/components/jobs/list/jobs-screen";
import { isPlainHistory, type ListName, readList, requestQuery } from "@/components/jobs/list/list-address";
import { type Failure } from "@/lib/contract/failure";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { type HistoryAnswer, type JobsAnswer } from "@/lib/contract/schemas/job";
import { openPage } from "@/lib/server/bff/open-page";
import { getRoleOn } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { hasManySubmitters, searchJobs } from "@/lib/server/jobs/job-search";
import { listHistory, listJobs } from "@/lib/server/queries/jobs";
import { resolvesInTime, withRequestTime } from "./console-page";
import { openDefaultView, type SearchParams, textParam, toSearchParams } from "./params";

/** Renders the page of the jobs or the history. */
export async function renderJobList(list: ListName, params: SearchParams, createScreen: (props: JobListProps) => ReactElement) {
  const context = await openPage();
  const { query, ignored } = readList(list, toSearchParams(params));
  const connection = textParam(params, "connection");
  const view = await openDefaultView(context, list, params);
  const request = requestQuery(list, query);
  const readJobs = () => {
    if (isPlainHistory(list, query)) return listHistory(context, { offset: query.offset, max_items: query.limit }, connection);
    return isSearch(query) ? searchJobs(context, request, connection) : listJobs(context, request, connection);
  };
  const isTeam = hasManySubmitters(context, connection);
  const first = withRequestTime<JobsAnswer | HistoryAnswer, JobsView, Failure>(readJobs(), toJobsView);
  const canRun = context.viewer.can("operator", await getRoleOn(context, connection));
  const screen = createScreen({ query, ignored, connection, view, canRun, isTeam: await isTeam, first });
  return (
    <PageMessages messages={await pickMessages("jobs", list, "jobList", "savedViews", "acts", "jobSearch")}>
      {(await resolvesInTime(first)) ? (
        screen
      ) : (
        <Suspense fallback={<PageSkeleton page={list} tools="long" layout="rows" />}>{screen}</Suspense>
      )}
    </PageMessages>
  );
}
