import { JobsScreen } from "@/components/jobs/list/jobs-screen";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { renderJobList } from "../job-list-page";

export const generateMetadata = createPageTitle("jobs.title");

export default async function JobsPage({ searchParams }: PageProps<"/jobs">) {
  return renderJobList("jobs", await searchParams, (props) => <JobsScreen {...props} />);
}
