import { createConsolePage, withRequestTime } from "@/app/(console)/console-page";
import { RunnersScreen } from "@/components/settings/runners/runners-screen";
import { hasRole } from "@/lib/contract/members/roles";
import { type Runner } from "@/lib/contract/runners/runners";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { listRunners } from "@/lib/server/queries/runners";
import { ok } from "@/lib/shared/result";

export const generateMetadata = createPageTitle("runners.title");

export default createConsolePage(["settings", "runners"], ({ viewer, composition }) => (
  <RunnersScreen
    role={viewer.role}
    canChange={viewer.can("admin")}
    runners={
      hasRole(viewer.role, "admin")
        ? withRequestTime(listRunners(composition).then(ok), ({ runners }: { runners: Runner[] }) => runners)
        : undefined
    }
  />
));
