"use client";

import { useTranslations } from "next-intl";
import { use } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link, useRouter } from "@/components/ui/link";
import { type AuditChoices, type AuditPage } from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { auditAddress, type AuditView } from "./audit-address";
import { AuditFilters } from "./audit-filters";
import { AuditTable } from "./audit-table";

type Reads = { page: Promise<Result<AuditPage, Failure>>; choices: Promise<Result<AuditChoices, Failure>> };
type AuditScreenProps = {
  role: Role;
  view: AuditView;
  /** Absent for roles that may not see the log. */
  reads?: Reads;
};

export function AuditScreen({ role, view, reads }: AuditScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  return (
    <>
      <PageHeader title={t("title")} />
      <SettingsTabs current="audit" />
      <div className="flex w-full max-w-[1080px] min-w-0 flex-col gap-3.5 p-4 md:px-5">
        {reads ? (
          <>
            <p className="text-ink-3">{t("audit.text")}</p>
            <AuditFilters view={view} choices={reads.choices} />
            <AuditEntries view={view} page={reads.page} />
          </>
        ) : (
          <p className="text-ink-2">{t("audit.notYours", { role: roleName(role) })}</p>
        )}
      </div>
    </>
  );
}

function AuditEntries({ view, page }: { view: AuditView; page: Reads["page"] }) {
  const t = useTranslations("settings.audit");
  const router = useRouter();
  const result = use(page);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  const { entries, hasMore, upTo } = result.value;
  const isWhole = [view.member, view.action, view.on, view.within, view.before].every((value) => value === undefined);
  const empty = isWhole ? "empty" : "noMatch";
  return (
    <>
      <Card title={t("title")} bodyClassName="p-0">
        {entries.length === 0 ? <EmptyState title={t(`${empty}.title`)} text={t(`${empty}.text`)} /> : <AuditTable entries={entries} />}
      </Card>
      <div className="flex gap-2">
        {view.before === undefined ? null : (
          <Link href={auditAddress({ ...view, before: undefined, upTo: undefined })} className={buttonStyle()}>
            {t("newest")}
          </Link>
        )}
        {hasMore ? (
          <Link href={auditAddress({ ...view, before: entries.at(-1)?.id, upTo })} className={buttonStyle()}>
            {t("older")}
          </Link>
        ) : null}
      </div>
    </>
  );
}
