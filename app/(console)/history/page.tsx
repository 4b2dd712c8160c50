import { HistoryScreen } from "@/components/jobs/list/history-screen";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { renderJobList } from "../job-list-page";

export const generateMetadata = createPageTitle("history.title");

export default async function HistoryPage({ searchParams }: PageProps<"/history">) {
  return renderJobList("history", await searchParams, (props) => <HistoryScreen {...props} />);
}
