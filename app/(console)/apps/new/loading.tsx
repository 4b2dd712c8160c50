import { loadingPage } from "@/app/(console)/loading-page";
import { AppSkeleton } from "@/components/apps/apps-skeleton";

export default loadingPage("apps", AppSkeleton);
