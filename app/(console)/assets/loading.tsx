import { AssetsSkeleton } from "@/components/assets/assets-skeleton";
import { loadingPage } from "../loading-page";

export default loadingPage("assets", AssetsSkeleton);
