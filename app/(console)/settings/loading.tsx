import { PageMessages } from "@/components/frame/page-messages";
import { SettingsSkeleton } from "@/components/settings/settings-skeleton";
import { pickMessages } from "@/lib/server/i18n/pick-messages";

export default function SettingsLoading() {
  return (
    <PageMessages messages={pickMessages("settings")}>
      <SettingsSkeleton part="connections" />
    </PageMessages>
  );
}
