import { PageMessages } from "@/components/frame/page-messages";
import { JobSkeleton } from "@/components/jobs/job-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default function JobLoading() {
  return (
    <PageMessages messages={pickMessages("jobs")}>
      <JobSkeleton />
    </PageMessages>
  );
}
