import { AssetsSkeleton } from "@/components/assets/assets-skeleton";
import { loadingPage } from "../loading-screen";

export default loadingPage("assets", AssetsSkeleton);
