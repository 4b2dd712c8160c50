import { FilesSkeleton } from "@/components/files/file-columns";
import { loadingPage } from "../loading-page";

export default loadingPage("files", FilesSkeleton);
