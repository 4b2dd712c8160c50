import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { loadingPage } from "../loading-page";

export default loadingPage("queue", () => <ListSkeleton list="queue" />);
