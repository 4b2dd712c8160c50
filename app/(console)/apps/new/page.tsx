import { notFound } from "next/navigation";
import { createConsolePage } from "@/app/(console)/console-page";
import { getTextParam } from "@/app/(console)/params";
import { NewAppScreen } from "@/components/apps/editor/app-editor";
import { hasRole } from "@/lib/contract/members/roles";
import { createPageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("apps.make.new");

export default createConsolePage(["apps", "run", "masks"], ({ viewer: { memberId, role } }, { search }) => {
  if (!hasRole(role, "operator")) notFound();
  return <NewAppScreen memberId={memberId} job={getTextParam(search, "job")} />;
});
