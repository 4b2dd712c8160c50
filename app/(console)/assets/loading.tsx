import { AssetsSkeleton } from "@/components/assets/assets-skeleton";
import { PageMessages } from "@/components/frame/page-messages";
import { pickMessages } from "@/lib/server/i18n/messages";

export default async function Loading() {
  return (
    <PageMessages messages={await pickMessages("assets")}>
      <AssetsSkeleton />
    </PageMessages>
  );
}
