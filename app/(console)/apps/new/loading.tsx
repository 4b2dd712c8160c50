import { loadingPage } from "@/app/(console)/loading-screen";
import { AppSkeleton } from "@/components/apps/apps-skeleton";

export default loadingPage("apps", AppSkeleton);
