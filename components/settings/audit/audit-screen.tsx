"use client";

import { useTranslations } from "next-intl";
import { use } from "react";
import { useActionMessages } from "@/components/frame/action-messages";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink, useRouter } from "@/components/ui/link";
import { apiPath } from "@/lib/browser/urls";
import { type AuditFilterValues, type AuditPage } from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/members/roles";
import { type Result } from "@/lib/shared/result";
import { SettingsPage } from "../settings-tabs";
import { AuditTable, type AuditView, getAuditExportHref, getAuditHref } from "./audit-table";

type AuditPromises = { page: Promise<Result<AuditPage, Failure>>; choices: Promise<Result<AuditFilterValues, Failure>> };
type AuditScreenProps = {
  role: Role;
  view: AuditView;
  /** Absent for roles that may not see the log. */
  promises?: AuditPromises;
};

export function AuditScreen({ role, view, promises }: AuditScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  return (
    <SettingsPage current="audit" isWide>
      {promises ? (
        <>
          <p className="text-ink-3">{t("audit.text")}</p>
          <AuditFilters view={view} choices={promises.choices} />
          <AuditEntries view={view} page={promises.page} />
        </>
      ) : (
        <p className="text-ink-2">{t("audit.notYours", { role: roleName(role) })}</p>
      )}
    </SettingsPage>
  );
}

function AuditEntries({ view, page }: { view: AuditView; page: AuditPromises["page"] }) {
  const t = useTranslations("settings.audit");
  const router = useRouter();
  const connection = useConnectionParam();
  const result = use(page);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  const { entries, hasMore, upTo } = result.value;
  const isUnfiltered = [view.member, view.action, view.on, view.within, view.before].every((value) => value === undefined);
  const emptyKey = isUnfiltered ? "empty" : "noMatch";
  return (
    <>
      <Card title={t("title")} bodyClassName="p-0">
        {entries.length === 0 ? (
          <EmptyState title={t(`${emptyKey}.title`)} text={t(`${emptyKey}.text`)} />
        ) : (
          <AuditTable entries={entries} />
        )}
      </Card>
      <div className="flex gap-2">
        {view.before === undefined ? null : (
          <ButtonLink href={getAuditHref({ ...view, before: undefined, upTo: undefined }, connection)}>{t("newest")}</ButtonLink>
        )}
        {hasMore ? (
          <ButtonLink href={getAuditHref({ ...view, before: entries.at(-1)?.id, upTo }, connection)}>{t("older")}</ButtonLink>
        ) : null}
      </div>
    </>
  );
}

const timeSpans = [
  [24, "hours"],
  [24 * 7, "week"],
  [24 * 30, "month"],
] as const;

function AuditFilters({ view, choices }: { view: AuditView; choices: Promise<Result<AuditFilterValues, Failure>> }) {
  const t = useTranslations("settings.audit");
  const { getActionText } = useActionMessages();
  const router = useRouter();
  const connection = useConnectionParam();
  const choicesResult = use(choices);
  const { members, actions } = choicesResult.ok ? choicesResult.value : { members: [], actions: [] };
  // The options may not include the current filter, for example a removed member.
  const unlistedMember = members.some(({ id }) => id === view.member) ? undefined : view.member;
  const unlistedAction = actions.some((action) => action === view.action) ? undefined : view.action;
  // Changing a filter restarts at the newest entry.
  const applyFilter = (change: Partial<AuditView>) =>
    router.push(getAuditHref({ ...view, before: undefined, upTo: undefined, ...change }, connection));
  const isFiltered = [view.member, view.action, view.on, view.within].some((value) => value !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        aria-label={t("person")}
        value={view.member ?? ""}
        onChange={({ target }) => applyFilter({ member: target.value || undefined })}
      >
        <option value="">{t("anybody")}</option>
        <Options of={members.map(({ id, name }) => [id, name])} />
        {unlistedMember === undefined ? null : <option value={unlistedMember}>{t("nobody")}</option>}
      </Select>
      <Select aria-label={t("act")} value={view.action ?? ""} onChange={({ target }) => applyFilter({ action: target.value || undefined })}>
        <option value="">{t("anything")}</option>
        <Options of={actions.map((action) => [action, getActionText(action)])} />
        {unlistedAction === undefined ? null : <option value={unlistedAction}>{getActionText(unlistedAction)}</option>}
      </Select>
      <Select
        aria-label={t("time")}
        value={view.within ?? ""}
        onChange={({ target }) => applyFilter({ within: target.value ? Number(target.value) : undefined })}
      >
        <option value="">{t("anyTime")}</option>
        <Options of={timeSpans.map(([hours, labelKey]) => [hours, t(labelKey)])} />
      </Select>
      {isFiltered ? (
        <ButtonLink href={getAuditHref({}, connection)} tone="quiet">
          {t("reset")}
        </ButtonLink>
      ) : null}
      <a href={apiPath(getAuditExportHref(view))} download className={buttonStyle({ className: "ml-auto" })}>
        {t("export")}
      </a>
    </div>
  );
}
