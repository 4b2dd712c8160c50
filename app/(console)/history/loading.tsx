import { PageMessages } from "@/components/frame/page-messages";
import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function HistoryLoading() {
  return (
    <PageMessages messages={await pickMessages("history")}>
      <ListSkeleton list="history" />
    </PageMessages>
  );
}
