import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-messages";
import { toQueueList } from "@/components/jobs/queue/queue-list";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { requireViewer } from "@/lib/server/auth/viewer";
import { roleOn } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getQueue } from "@/lib/server/queries/jobs";
import { stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("queue"))("title") };
}

export default async function QueuePage({ searchParams }: PageProps<"/queue">) {
  const viewer = await requireViewer();
  const { connection } = await searchParams;
  const linked = typeof connection === "string" ? connection : undefined;
  const queue = stamp(getQueue(viewer, linked), toQueueList);
  return (
    <PageMessages messages={await pickMessages("queue", "jobList", "acts")}>
      <QueueScreen linked={linked} canCancel={viewer.can("operator", await roleOn(viewer, linked))} queue={queue} />
    </PageMessages>
  );
}
