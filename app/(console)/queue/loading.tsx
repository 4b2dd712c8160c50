import { PageMessages } from "@/components/frame/page-messages";
import { QueueSkeleton } from "@/components/queue/queue-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default function QueueLoading() {
  return (
    <PageMessages messages={pickMessages("queue")}>
      <QueueSkeleton />
    </PageMessages>
  );
}
