import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { readSearch } from "@/components/jobs/search/search-address";
import { endedJobs, USUAL_ITEMS } from "@/components/jobs/history/history-address";
import { type HistoryView, toHistoryView } from "@/components/jobs/history/history-row";
import { HistoryScreen } from "@/components/jobs/history/history-screen";
import { writeExactJson } from "@/lib/contract/exact-json";
import { jobSearchQuerySchema, type JobSearchAnswer } from "@/lib/contract/console-job-search";
import { type Failure } from "@/lib/contract/failure";
import { isSearch } from "@/lib/contract/job-search";
import { hasRole } from "@/lib/contract/roles";
import { type HistoryAnswer, historyQuerySchema } from "@/lib/contract/schemas/queue";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { searchJobs } from "@/lib/server/jobs/job-search";
import { listHistory } from "@/lib/server/queries/history";
import { stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("history"))("title") };
}

export default async function HistoryPage({ searchParams }: PageProps<"/history">) {
  const viewer = await requireViewer();
  const { connection, ...params } = await searchParams;
  const linked = typeof connection === "string" ? connection : undefined;
  const { max_items, offset } = historyQuerySchema.shape;
  // A bad value falls back to its default, and the page says by its paging what it shows.
  const query = {
    max_items: max_items.catch(USUAL_ITEMS).parse(params.max_items ?? USUAL_ITEMS),
    offset: offset.catch(0).parse(params.offset),
  };
  const search = readSearch(
    new URLSearchParams(Object.entries(params).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))),
  );
  const asked = { ...query, ...search };
  const reading = isSearch(search)
    ? searchJobs(viewer, jobSearchQuerySchema.parse(endedJobs(asked)), linked)
    : listHistory(viewer, query, linked);
  const history = stamp<HistoryAnswer | JobSearchAnswer, HistoryView, Failure>(reading, toHistoryView);
  return (
    <PageMessages messages={await pickMessages("history", "acts", "jobSearch")}>
      <HistoryScreen
        key={writeExactJson(query)}
        query={asked}
        linked={linked}
        canRemove={hasRole(viewer.role, "operator")}
        history={history}
      />
    </PageMessages>
  );
}
