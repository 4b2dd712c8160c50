import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { PageMessages } from "@/components/frame/page-header";
import { toQueueList } from "@/components/jobs/job-row";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { openPage } from "@/lib/server/bff/open-page";
import { roleOn } from "@/lib/server/connections/access";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getQueue } from "@/lib/server/queries/jobs";
import { stamp } from "../stamp";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("queue"))("title") };
}

export default async function QueuePage({ searchParams }: PageProps<"/queue">) {
  const context = await openPage();
  const { connection } = await searchParams;
  const linked = typeof connection === "string" ? connection : undefined;
  const queue = stamp(getQueue(context, linked), toQueueList);
  return (
    <PageMessages messages={await pickMessages("queue", "jobList", "acts")}>
      <QueueScreen linked={linked} canCancel={context.viewer.can("operator", await roleOn(context, linked))} queue={queue} />
    </PageMessages>
  );
}
