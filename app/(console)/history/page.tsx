import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { HistoryScreen } from "@/components/jobs/history/history-screen";
import { type JobsView, toHistoryView } from "@/components/jobs/job-row";
import { readList } from "@/components/jobs/list/list-address";
import { type JobSearchAnswer } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { type HistoryAnswer } from "@/lib/contract/schemas/job";
import { openPage } from "@/lib/server/bff/open-page";
import { roleOn } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { hasManySubmitters, searchJobs } from "@/lib/server/jobs/job-search";
import { listHistory } from "@/lib/server/queries/jobs";
import { textParam, toSearchParams } from "../params";
import { stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("history"))("title") };
}

export default async function HistoryPage({ searchParams }: PageProps<"/history">) {
  const context = await openPage();
  const params = await searchParams;
  const linked = textParam(params, "connection");
  // A bad value falls back to its default; the page's paging shows which part of the list it is.
  const { query } = readList("history", toSearchParams(params));
  const reading = isSearch(query)
    ? searchJobs(context, query, linked)
    : listHistory(context, { offset: query.offset, max_items: query.limit }, linked);
  const isTeam = hasManySubmitters(context, linked);
  const history = stamp<HistoryAnswer | JobSearchAnswer, JobsView, Failure>(reading, toHistoryView);
  return (
    <PageMessages messages={await pickMessages("history", "jobList", "acts", "jobSearch")}>
      <HistoryScreen
        query={query}
        linked={linked}
        canRemove={context.viewer.can("operator", await roleOn(context, linked))}
        isTeam={await isTeam}
        history={history}
      />
    </PageMessages>
  );
}
