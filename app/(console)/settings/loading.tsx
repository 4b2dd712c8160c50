import { PageMessages } from "@/components/frame/page-messages";
import { SettingsSkeleton } from "@/components/settings/settings-skeleton";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function SettingsLoading() {
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <SettingsSkeleton part="connections" />
    </PageMessages>
  );
}
