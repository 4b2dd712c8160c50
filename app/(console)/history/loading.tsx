import { PageMessages } from "@/components/frame/page-messages";
import { HistorySkeleton } from "@/components/jobs/history/history-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default async function HistoryLoading() {
  return (
    <PageMessages messages={await pickMessages("history", "jobSearch")}>
      <HistorySkeleton />
    </PageMessages>
  );
}
