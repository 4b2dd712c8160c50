"use client";

import { useTranslations } from "next-intl";
import { use } from "react";
import { useActWords } from "@/components/frame/act-words";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { Select } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { Link, useRouter } from "@/components/ui/link";
import { apiPath } from "@/lib/browser/urls";
import { type AuditChoices, type AuditPage } from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { auditAddress, auditFile, type AuditView } from "./audit-facts";
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

const spans = [
  [24, "hours"],
  [24 * 7, "week"],
  [24 * 30, "month"],
] as const;

type AuditFiltersProps = { view: AuditView; choices: Promise<Result<AuditChoices, Failure>> };

function AuditFilters({ view, choices }: AuditFiltersProps) {
  const t = useTranslations("settings.audit");
  const { wordOf } = useActWords();
  const router = useRouter();
  const known = use(choices);
  const { members, actions } = known.ok ? known.value : { members: [], actions: [] };
  // A change of filters starts again at the newest entry.
  const narrow = (change: Partial<AuditView>) => router.push(auditAddress({ ...view, before: undefined, upTo: undefined, ...change }));
  const isNarrowed = [view.member, view.action, view.on, view.within].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select aria-label={t("person")} value={view.member ?? ""} onChange={({ target }) => narrow({ member: target.value || undefined })}>
        <option value="">{t("anybody")}</option>
        {members.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <Select aria-label={t("act")} value={view.action ?? ""} onChange={({ target }) => narrow({ action: target.value || undefined })}>
        <option value="">{t("anything")}</option>
        {actions.map((action) => (
          <option key={action} value={action}>
            {wordOf(action)}
          </option>
        ))}
      </Select>
      <Select
        aria-label={t("time")}
        value={view.within ?? ""}
        onChange={({ target }) => narrow({ within: target.value ? Number(target.value) : undefined })}
      >
        <option value="">{t("anyTime")}</option>
        {spans.map(([hours, word]) => (
          <option key={hours} value={hours}>
            {t(word)}
          </option>
        ))}
      </Select>
      {isNarrowed ? (
        <Link href="/settings/audit" className={buttonStyle({ tone: "quiet" })}>
          {t("reset")}
        </Link>
      ) : null}
      <a href={apiPath(auditFile(view))} download className={buttonStyle({ className: "ml-auto" })}>
        {t("export")}
      </a>
    </div>
  );
}
