import { PageMessages } from "@/components/frame/page-header";
import { SettingsSkeleton } from "@/components/settings/settings-tabs";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function Loading() {
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <SettingsSkeleton />
    </PageMessages>
  );
}
