import { AppsSkeleton } from "@/components/apps/apps-skeleton";
import { loadingPage } from "../loading-page";

export default loadingPage("apps", AppsSkeleton);
