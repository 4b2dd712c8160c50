import { AppSkeleton } from "@/components/apps/apps-skeleton";
import { PageMessages } from "@/components/frame/page-messages";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function AppLoading() {
  return (
    <PageMessages messages={await pickMessages("apps")}>
      <AppSkeleton />
    </PageMessages>
  );
}
