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
import { useOnce } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { useRead, useRequests } from "@/lib/browser/use-read";
import { type AppAccess, type AppLimits, type AppPerson, type AppVersionView, type AppView } from "@/lib/contract/apps/app";
import { appApi, appPath } from "../apps-address";
import { type Draft } from "./use-source";

/** Admins are not listed, since they see every app except other members' private ones. */
const chosenRoles = ["operator", "viewer", "runner"] as const;
const kinds = ["me", "team", "members"] as const;
const limitNames = ["runsPerDay", "atOnce", "pictureBytes", "picturePixels"] as const;
/** Bytes and pixels are entered in millions. */
const unit = { runsPerDay: 1, atOnce: 1, pictureBytes: 1_000_000, picturePixels: 1_000_000 } as const;

type AccessCardProps = {
  access: AppAccess;
  limits: AppLimits;
  connection?: string;
  onChange: (change: Partial<Pick<Draft, "access" | "limits">>) => void;
};

/** Who may see and run the app, and how much. */
export function AccessCard({ access, limits, connection, onChange }: AccessCardProps) {
  const t = useTranslations("apps.make.access");
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3.5">
      <SelectField
        label={t("who")}
        value={access.kind}
        onChange={({ target }) => {
          const kind = kinds.find((kind) => kind === target.value) ?? "me";
          onChange({ access: kind === "members" ? { kind, members: [], roles: [] } : { kind } });
        }}
      >
        <Options of={kinds.map((kind) => [kind, t(kind)])} />
      </SelectField>
      {access.kind === "members" ? (
        <>
          <div role="group" aria-label={t("roles")} className="flex flex-wrap gap-x-4">
            <CheckList
              options={chosenRoles}
              chosen={chosenRoles.filter((role) => access.roles.includes(role))}
              onChange={(roles) => onChange({ access: { ...access, roles } })}
            >
              {(role) => t(`everyone.${role}`)}
            </CheckList>
          </div>
          <Members chosen={access.members} connection={connection} onChange={(members) => onChange({ access: { ...access, members } })} />
        </>
      ) : null}
      <div role="group" aria-label={t("limits")} className="grid gap-3 sm:grid-cols-2">
        {limitNames.map((name) => {
          const value = limits[name];
          const each = unit[name];
          return (
            <FormField key={name} label={t(name)} hint={t("limitHint")}>
              {(control) => (
                <NumberControl
                  {...control}
                  integer={name !== "picturePixels"}
                  value={value === undefined ? undefined : value / each}
                  onChange={(next) => {
                    const { [name]: _, ...rest } = limits;
                    onChange({ limits: typeof next === "number" && next > 0 ? { ...rest, [name]: Math.round(next * each) } : rest });
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

type MembersProps = { chosen: readonly string[]; connection?: string; onChange: (members: string[]) => void };

/** Members who may use the connection. */
function Members({ chosen, connection, onChange }: MembersProps) {
  const t = useTranslations("apps.make.access");
  const roleName = useTranslations("frame.member.role");
  const path = withQuery("/api/apps/people", { connection });
  const { data, error, mutate } = useRead(path, () => callApi<{ people: AppPerson[] }>(path));
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  const people = data?.people ?? [];
  // Keeps members who may currently not use the connection.
  const missingIds = chosen.filter((id) => !people.some((appPerson) => appPerson.id === id));
  return (
    <div role="group" aria-label={t("members")} className="max-h-60 overflow-y-auto rounded-md border border-line px-2.5 py-1">
      {data ? null : <Skeleton className="my-1 h-6" />}
      <CheckList
        options={people}
        chosen={people.filter(({ id }) => chosen.includes(id))}
        onChange={(now) => onChange([...missingIds, ...now.map(({ id }) => id)])}
      >
        {({ name, role }) => (
          <>
            {name} <span className="text-sm text-ink-3">{roleName(role)}</span>
          </>
        )}
      </CheckList>
    </div>
  );
}

type VersionsResponse = { versions: AppVersionView[] };
const getVersions = ({ versions }: VersionsResponse) => versions;

type Removal = "removal" | AppVersionView;

/** The change history, newest first, with restore. Below it, the button that deletes the app. */
export function VersionsCard({ app }: { app: AppView }) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("apps.make.versions");
  const router = useRouter();
  const loadedVersions = useOnce(appApi(app.id, "versions"), getVersions);
  const [pendingRemoval, setPendingRemoval] = useState<Removal>();
  const { busyWith, failure, send } = useRequests<"act">();
  async function submitChange(removal: Removal) {
    const path = removal === "removal" ? appApi(app.id) : appApi(app.id, "versions", String(removal.number), "restore");
    const result = await send("act", callApi(path, { method: removal === "removal" ? "DELETE" : "POST" }));
    setPendingRemoval(undefined);
    if (!result.ok) return;
    showToast({ tone: "ok", text: removal === "removal" ? t("removed", { title: app.title }) : t("restored", { number: removal.number }) });
    router.push(withQuery(removal === "removal" ? "/apps" : appPath(app.id), { connection: connectionParam }));
  }
  const title =
    pendingRemoval === undefined
      ? ""
      : pendingRemoval === "removal"
        ? t("removeTitle", { title: app.title })
        : t("restoreTitle", { number: pendingRemoval.number });
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
                <Button size="small" aria-label={t("restoreOf", { number: version.number })} onClick={() => setPendingRemoval(version)}>
                  {t("restore")}
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Card>
      <Button tone="danger" className="self-start" onClick={() => setPendingRemoval("removal")}>
        {t("remove")}
      </Button>
      <ConfirmDialog
        isOpen={pendingRemoval !== undefined}
        onClose={() => setPendingRemoval(undefined)}
        title={title}
        tone={pendingRemoval === "removal" ? "danger" : "primary"}
        isBusy={busyWith !== undefined}
        onConfirm={() => pendingRemoval && void submitChange(pendingRemoval)}
      >
        <p>{t(pendingRemoval === "removal" ? "removeText" : "restoreText")}</p>
      </ConfirmDialog>
    </>
  );
}
