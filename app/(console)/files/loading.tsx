import { FilesSkeleton } from "@/components/files/file-columns";
import { loadingPage } from "../loading-screen";

export default loadingPage("files", FilesSkeleton);
