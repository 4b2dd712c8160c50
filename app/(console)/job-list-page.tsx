import { type ReactElement, Suspense } from "react";
import { PageMessages } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { type JobsView, toJobsView } from "@/components/jobs/job-row";
import { type JobListProps } from "@/components/jobs/list/jobs-screen";
import { isPlainHistory, type ListName, parseListQuery, toRequestQuery } from "@/components/jobs/list/list-urls";
import { type Failure } from "@/lib/contract/failure";
import { hasSearchFilter } from "@/lib/contract/jobs/job-list";
import { type HistoryResponse, type JobsResponse } from "@/lib/contract/schemas/job";
import { openPage } from "@/lib/server/bff/open-page";
import { getRoleForConnection } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { hasManySubmitters, searchJobs } from "@/lib/server/jobs/job-search";
import { listHistory, listJobs } from "@/lib/server/queries/jobs";
import { resolvesWithoutSkeleton, withRequestTime } from "./console-page";
import { getTextParam, redirectToDefaultView, type SearchParams, toSearchParams } from "./params";

/** Renders the jobs page or the history page. */
export async function renderJobList(list: ListName, params: SearchParams, createScreen: (props: JobListProps) => ReactElement) {
  const context = await openPage();
  const { query, ignored } = parseListQuery(list, toSearchParams(params));
  const connection = getTextParam(params, "connection");
  const view = await redirectToDefaultView(context, list, params);
  const request = toRequestQuery(list, query);
  const readJobs = () => {
    if (isPlainHistory(list, query)) return listHistory(context, { offset: query.offset, max_items: query.limit }, connection);
    return hasSearchFilter(query) ? searchJobs(context, request, connection) : listJobs(context, request, connection);
  };
  const teamCheck = hasManySubmitters(context, connection);
  const initialResponse = withRequestTime<JobsResponse | HistoryResponse, JobsView, Failure>(readJobs(), toJobsView);
  const canRun = context.viewer.can("operator", await getRoleForConnection(context, connection));
  const screen = createScreen({ query, ignored, connection, view, canRun, isTeam: await teamCheck, initialResponse });
  return (
    <PageMessages messages={await pickMessages("jobs", list, "jobList", "savedViews", "acts", "jobSearch")}>
      {(await resolvesWithoutSkeleton(initialResponse)) ? (
        screen
      ) : (
        <Suspense fallback={<PageSkeleton page={list} tools="long" layout="rows" />}>{screen}</Suspense>
      )}
    </PageMessages>
  );
}
