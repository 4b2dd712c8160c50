import { PageMessages } from "@/components/frame/page-messages";
import { SettingsSkeleton } from "@/components/settings/settings-skeleton";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function MembersLoading() {
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <SettingsSkeleton part="members" />
    </PageMessages>
  );
}
