import { createConsolePage } from "@/app/(console)/console-page";
import { toQueueList } from "@/components/jobs/job-row";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { getRoleForConnection } from "@/lib/server/connections/access";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { getQueue } from "@/lib/server/queries/jobs";
import { withRequestTime } from "../console-page";

export const generateMetadata = createPageTitle("queue.title");

export default createConsolePage(["queue", "jobList", "acts"], async (context, { connection }) => {
  const queue = withRequestTime(getQueue(context, connection), toQueueList);
  const canCancel = context.viewer.can("operator", await getRoleForConnection(context, connection));
  return <QueueScreen canCancel={canCancel} queue={queue} />;
});
