import { loadingPage } from "@/app/(console)/loading-page";
import { AssetSkeleton } from "@/components/assets/assets-skeleton";

export default loadingPage("assets", AssetSkeleton);
