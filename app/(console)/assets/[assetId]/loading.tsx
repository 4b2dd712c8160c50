import { loadingPage } from "@/app/(console)/loading-screen";
import { AssetSkeleton } from "@/components/assets/assets-skeleton";

export default loadingPage("assets", AssetSkeleton);
