import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { toSearchParams } from "@/app/(console)/params";
import { PageMessages } from "@/components/frame/page-header";
import { AuditScreen } from "@/components/settings/audit/audit-screen";
import { auditParams } from "@/lib/contract/audit/audit";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readAddress } from "@/lib/contract/params";
import { hasRole } from "@/lib/contract/people/roles";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { listAudit, listAuditChoices } from "@/lib/server/queries/audit";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("settings.audit"))("title") };
}

export default async function AuditPage({ searchParams }: PageProps<"/settings/audit">) {
  const context = await openPage();
  // A value that makes no sense filters nothing.
  const { query } = readAddress(auditParams, toSearchParams(await searchParams));
  const reads = hasRole(context.viewer.role, "admin") ? { page: listAudit(context, query), choices: listAuditChoices(context) } : undefined;
  return (
    <PageMessages messages={await pickMessages("settings")}>
      <AuditScreen key={writeExactJson(query)} role={context.viewer.role} view={query} reads={reads} />
    </PageMessages>
  );
}
