import { PageMessages } from "@/components/frame/page-messages";
import { QueueSkeleton } from "@/components/jobs/queue/queue-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default async function QueueLoading() {
  return (
    <PageMessages messages={await pickMessages("queue")}>
      <QueueSkeleton />
    </PageMessages>
  );
}
