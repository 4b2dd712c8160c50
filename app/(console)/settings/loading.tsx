import { SettingsSkeleton } from "@/components/settings/settings-tabs";
import { loadingPage } from "../loading-screen";

export default loadingPage("settings", SettingsSkeleton);
