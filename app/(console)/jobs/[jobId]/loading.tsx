import { PageMessages } from "@/components/frame/page-messages";
import { JobSkeleton } from "@/components/jobs/job/job-skeleton";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function JobLoading() {
  return (
    <PageMessages messages={await pickMessages("jobs")}>
      <JobSkeleton />
    </PageMessages>
  );
}
