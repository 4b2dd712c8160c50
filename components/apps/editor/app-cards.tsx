import { useTranslations } from "next-intl";
import { useState } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { NumberControl } from "@/components/run/form/controls/basic-controls";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CheckList } from "@/components/ui/controls/check-list";
import { FormField, Options, SelectField } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { RelativeTime } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { useReadOnce } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { useRead, useRequests } from "@/lib/browser/use-read";
import { type AppAccess, type AppLimits, type AppMember, type AppVersionView, type AppView } from "@/lib/contract/apps/app";
import { getAppApiPath, getAppPath } from "../apps-urls";
import { type Draft } from "./use-app-source";

/** Admins are not listed, since they see every app except other members' private ones. */
const grantableRoles = ["operator", "viewer", "runner"] as const;
const accessKinds = ["me", "team", "members"] as const;
const limitNames = ["runsPerDay", "atOnce", "pictureBytes", "picturePixels"] as const;
/** Bytes and pixels are entered in millions. */
const unitSizes = { runsPerDay: 1, atOnce: 1, pictureBytes: 1_000_000, picturePixels: 1_000_000 } as const;

type AccessCardProps = {
  access: AppAccess;
  limits: AppLimits;
  connection?: string;
  onChange: (change: Partial<Pick<Draft, "access" | "limits">>) => void;
};

/** Sets who can see and run the app, and the limits of their runs. */
export function AccessCard({ access, limits, connection, onChange }: AccessCardProps) {
  const t = useTranslations("apps.make.access");
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3.5">
      <SelectField
        label={t("who")}
        value={access.kind}
        onChange={({ target }) => {
          const kind = accessKinds.find((kind) => kind === target.value) ?? "me";
          onChange({ access: kind === "members" ? { kind, members: [], roles: [] } : { kind } });
        }}
      >
        <Options of={accessKinds.map((kind) => [kind, t(kind)])} />
      </SelectField>
      {access.kind === "members" ? (
        <>
          <div role="group" aria-label={t("roles")} className="flex flex-wrap gap-x-4">
            <CheckList
              options={grantableRoles}
              selected={grantableRoles.filter((role) => access.roles.includes(role))}
              onChange={(roles) => onChange({ access: { ...access, roles } })}
            >
              {(role) => t(`everyone.${role}`)}
            </CheckList>
          </div>
          <MemberList
            selectedIds={access.members}
            connection={connection}
            onChange={(members) => onChange({ access: { ...access, members } })}
          />
        </>
      ) : null}
      <div role="group" aria-label={t("limits")} className="grid gap-3 sm:grid-cols-2">
        {limitNames.map((name) => {
          const value = limits[name];
          const unitSize = unitSizes[name];
          return (
            <FormField key={name} label={t(name)} hint={t("limitHint")}>
              {(control) => (
                <NumberControl
                  {...control}
                  integer={name !== "picturePixels"}
                  value={value === undefined ? undefined : value / unitSize}
                  onChange={(newValue) => {
                    const { [name]: _, ...otherLimits } = limits;
                    onChange({
                      limits:
                        typeof newValue === "number" && newValue > 0
                          ? { ...otherLimits, [name]: Math.round(newValue * unitSize) }
                          : otherLimits,
                    });
                  }}
                />
              )}
            </FormField>
          );
        })}
      </div>
    </Card>
  );
}

type MemberListProps = { selectedIds: readonly string[]; connection?: string; onChange: (members: string[]) => void };

/** Lists the members who can use the connection. */
function MemberList({ selectedIds, connection, onChange }: MemberListProps) {
  const t = useTranslations("apps.make.access");
  const getRoleName = useTranslations("frame.member.role");
  const path = withQuery("/api/apps/people", { connection });
  const { data, error, mutate } = useRead(path, () => callApi<{ people: AppMember[] }>(path));
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  const members = data?.people ?? [];
  // Keeps selected members who currently can't use the connection.
  const unlistedIds = selectedIds.filter((id) => !members.some((member) => member.id === id));
  return (
    <div role="group" aria-label={t("members")} className="max-h-60 overflow-y-auto rounded-md border border-line px-2.5 py-1">
      {data ? null : <Skeleton className="my-1 h-6" />}
      <CheckList
        options={members}
        selected={members.filter(({ id }) => selectedIds.includes(id))}
        onChange={(selectedMembers) => onChange([...unlistedIds, ...selectedMembers.map(({ id }) => id)])}
      >
        {({ name, role }) => (
          <>
            {name} <span className="text-sm text-ink-3">{getRoleName(role)}</span>
          </>
        )}
      </CheckList>
    </div>
  );
}

type VersionsResponse = { versions: AppVersionView[] };
const getVersions = ({ versions }: VersionsResponse) => versions;

type PendingChange = "removal" | AppVersionView;

/** Lists the app's versions, newest first. Restores a version or deletes the app. */
export function VersionsCard({ app }: { app: AppView }) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps.make.versions");
  const router = useRouter();
  const loadedVersions = useReadOnce(getAppApiPath(app.id, "versions"), getVersions);
  const [pendingChange, setPendingChange] = useState<PendingChange>();
  const { busyWith, failure, send } = useRequests<"change">();
  async function submitChange(change: PendingChange) {
    const path = change === "removal" ? getAppApiPath(app.id) : getAppApiPath(app.id, "versions", String(change.number), "restore");
    const result = await send("change", callApi(path, { method: change === "removal" ? "DELETE" : "POST" }));
    setPendingChange(undefined);
    if (!result.ok) return;
    showToast({ tone: "ok", text: change === "removal" ? t("removed", { title: app.title }) : t("restored", { number: change.number }) });
    router.push(withQuery(change === "removal" ? "/apps" : getAppPath(app.id), { connection: connectionParam }));
  }
  const title =
    pendingChange === undefined
      ? ""
      : pendingChange === "removal"
        ? t("removeTitle", { title: app.title })
        : t("restoreTitle", { number: pendingChange.number });
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={t("title")} bodyClassName="p-0">
        {loadedVersions.failure ? (
          <FailureMessage failure={loadedVersions.failure} onRetry={() => void loadedVersions.refresh()} className="m-3" />
        ) : null}
        <ul>
          {loadedVersions.value?.map((version) => (
            <li
              key={version.number}
              className="flex min-h-[46px] flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3.5 py-1.5 last:border-b-0"
            >
              <span className="w-8 text-ink-3 tabular-nums">{version.number}</span>
              <span className="min-w-0 flex-1">
                <span className="block break-words">
                  {version.restoredFrom === undefined
                    ? version.changes
                        .map((change) => t(`change.${change.what}`, { label: "label" in change ? change.label : "" }))
                        .join(", ")
                    : t("restoredFrom", { number: version.restoredFrom })}
                </span>
                <span className="text-sm text-ink-3">
                  {version.by} · <RelativeTime ms={version.at} />
                </span>
              </span>
              {version.number === app.version ? (
                <span className="text-sm text-ink-3">{t("now")}</span>
              ) : (
                <Button size="small" aria-label={t("restoreOf", { number: version.number })} onClick={() => setPendingChange(version)}>
                  {t("restore")}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Card>
      <Button tone="danger" className="self-start" onClick={() => setPendingChange("removal")}>
        {t("remove")}
      </Button>
      <ConfirmDialog
        isOpen={pendingChange !== undefined}
        onClose={() => setPendingChange(undefined)}
        title={title}
        tone={pendingChange === "removal" ? "danger" : "primary"}
        isBusy={busyWith !== undefined}
        onConfirm={() => pendingChange && void submitChange(pendingChange)}
      >
        <p>{t(pendingChange === "removal" ? "removeText" : "restoreText")}</p>
      </ConfirmDialog>
    </>
  );
}
