import { PageMessages } from "@/components/frame/page-messages";
import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { queueLooks } from "@/components/jobs/queue/queue-looks";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function QueueLoading() {
  return (
    <PageMessages messages={await pickMessages("queue")}>
      <ListSkeleton list="queue" looks={queueLooks} />
    </PageMessages>
  );
}
