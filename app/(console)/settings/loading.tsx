import { SettingsSkeleton } from "@/components/settings/settings-tabs";
import { loadingPage } from "../loading-page";

export default loadingPage("settings", SettingsSkeleton);
