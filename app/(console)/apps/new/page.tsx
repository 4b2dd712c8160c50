import { notFound } from "next/navigation";
import { consolePage } from "@/app/(console)/console-page";
import { textParam } from "@/app/(console)/params";
import { NewAppScreen } from "@/components/apps/make/make-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { pageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = pageTitle("apps.make.new");

export default consolePage(["apps", "run", "masks"], ({ viewer: { memberId, role } }, { search }) => {
  if (!hasRole(role, "operator")) notFound();
  return <NewAppScreen memberId={memberId} job={textParam(search, "job")} />;
});
