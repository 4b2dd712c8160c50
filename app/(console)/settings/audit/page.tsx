import { createConsolePage } from "@/app/(console)/console-page";
import { toSearchParams } from "@/app/(console)/params";
import { AuditScreen } from "@/components/settings/audit/audit-screen";
import { auditParams } from "@/lib/contract/audit/audit";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { hasRole } from "@/lib/contract/members/roles";
import { parseSearch } from "@/lib/contract/params";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { listAudit, listAuditFilterValues } from "@/lib/server/queries/audit";

export const generateMetadata = createPageTitle("settings.audit.title");

export default createConsolePage(["settings"], (context, { search }) => {
  // Ignores invalid values.
  const { query } = parseSearch(auditParams, toSearchParams(search));
  const promises = hasRole(context.viewer.role, "admin")
    ? { page: listAudit(context, query), choices: listAuditFilterValues(context) }
    : undefined;
  return <AuditScreen key={writeExactJson(query)} role={context.viewer.role} view={query} promises={promises} />;
});
