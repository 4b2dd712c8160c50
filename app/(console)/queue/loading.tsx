import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { loadingPage } from "../loading-screen";

export default loadingPage("queue", () => <ListSkeleton list="queue" />);
