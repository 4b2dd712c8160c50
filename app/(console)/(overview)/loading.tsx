import { OverviewSkeleton } from "@/components/overview/overview-screen";
import { loadingPage } from "../loading-screen";

export default loadingPage("overview", OverviewSkeleton);
