import { OverviewSkeleton } from "@/components/overview/overview-screen";
import { loadingPage } from "../loading-page";

export default loadingPage("overview", OverviewSkeleton);
