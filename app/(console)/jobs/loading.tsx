import { PageMessages } from "@/components/frame/page-messages";
import { JobsSkeleton } from "@/components/jobs/jobs-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default async function JobsLoading() {
  return (
    <PageMessages messages={await pickMessages("jobs", "jobSearch")}>
      <JobsSkeleton />
    </PageMessages>
  );
}
