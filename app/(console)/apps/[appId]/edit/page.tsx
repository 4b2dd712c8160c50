import { notFound } from "next/navigation";
import { consolePage } from "@/app/(console)/console-page";
import { EditAppScreen } from "@/components/apps/make/make-screen";
import { hasRole } from "@/lib/contract/people/roles";
import { pageTitle } from "@/lib/server/i18n/messages";

export const generateMetadata = pageTitle("apps.edit");

export default consolePage(["apps", "run", "masks"], ({ viewer: { role } }, { segment }) => {
  if (!hasRole(role, "operator")) notFound();
  const id = segment("appId");
  return <EditAppScreen key={id} id={id} />;
});
