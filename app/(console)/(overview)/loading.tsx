import { PageMessages } from "@/components/frame/page-messages";
import { OverviewSkeleton } from "@/components/overview/overview-skeleton";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function OverviewLoading() {
  return (
    <PageMessages messages={await pickMessages("overview")}>
      <OverviewSkeleton />
    </PageMessages>
  );
}
