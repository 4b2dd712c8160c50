import { notFound } from "next/navigation";
import { createConsolePage } from "@/app/(console)/console-page";
import { EditAppScreen } from "@/components/apps/editor/app-editor";
import { hasRole } from "@/lib/contract/members/roles";
import { createPageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = createPageTitle("apps.edit");

export default createConsolePage(["apps", "run", "masks"], ({ viewer: { role } }, { getSegment }) => {
  if (!hasRole(role, "operator")) notFound();
  const id = getSegment("appId");
  return <EditAppScreen key={id} id={id} />;
});
