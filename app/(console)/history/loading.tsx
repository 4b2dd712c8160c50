import { ListSkeleton } from "@/components/jobs/list/list-skeleton";
import { loadingPage } from "../loading-screen";

export default loadingPage("history", () => <ListSkeleton list="history" />);
