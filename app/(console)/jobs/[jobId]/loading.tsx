import { loadingPage } from "@/app/(console)/loading-screen";
import { JobSkeleton } from "@/components/jobs/job/job-screen";

export default loadingPage("jobs", JobSkeleton);
