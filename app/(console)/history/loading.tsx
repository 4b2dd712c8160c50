import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { loadingPage } from "../loading-page";

export default loadingPage("history", () => <ListSkeleton list="history" />);
