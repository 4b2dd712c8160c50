import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { HistoryScreen } from "@/components/jobs/history/history-screen";
import { toHistoryView } from "@/components/jobs/history/history-view";
import { type JobsView } from "@/components/jobs/job-row";
import { readList } from "@/components/jobs/list/list-address";
import { type JobSearchAnswer } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { type HistoryAnswer } from "@/lib/contract/schemas/queue";
import { requireViewer } from "@/lib/server/auth/viewer";
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
  const viewer = await requireViewer();
  const params = await searchParams;
  const linked = textParam(params, "connection");
  // A bad value falls back to its default; the page's paging shows which part of the list it is.
  const { query } = readList("history", toSearchParams(params));
  const reading = isSearch(query)
    ? searchJobs(viewer, query, linked)
    : listHistory(viewer, { offset: query.offset, max_items: query.limit }, linked);
  const isTeam = hasManySubmitters(viewer, linked);
  const history = stamp<HistoryAnswer | JobSearchAnswer, JobsView, Failure>(reading, toHistoryView);
  return (
    <PageMessages messages={await pickMessages("history", "jobList", "acts", "jobSearch")}>
      <HistoryScreen
        query={query}
        linked={linked}
        canRemove={viewer.can("operator", await roleOn(viewer, linked))}
        isTeam={await isTeam}
        history={history}
      />
    </PageMessages>
  );
}
