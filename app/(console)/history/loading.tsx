import { PageMessages } from "@/components/frame/page-messages";
import { HistorySkeleton } from "@/components/history/history-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default function HistoryLoading() {
  return (
    <PageMessages messages={pickMessages("history")}>
      <HistorySkeleton />
    </PageMessages>
  );
}
