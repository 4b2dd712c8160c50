import { AppsSkeleton } from "@/components/apps/apps-skeleton";
import { loadingPage } from "../loading-screen";

export default loadingPage("apps", AppsSkeleton);
