"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { connectionTones, getKeyLabelKey, useConnectionStatus, useRefreshCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useDenialText } from "@/components/frame/member-context";
import { Card, Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { useRequests } from "@/lib/browser/use-read";
import { hasFeature } from "@/lib/contract/connections";
import {
  type ConnectionCheck,
  type ConnectionView,
  type JobViewerView,
  type MemberView,
  type PersonalConnectionView,
} from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { ConnectionCheckNotice } from "../check-notices";
import { RemovalDialog } from "../revocable-list";
import { SettingsPage } from "../settings-tabs";
import { ConnectionForm, getConnectionPath } from "./connection-form";
import { getViewerPath, PersonalConnections, useJobViewersDialog } from "./personal-connections";

type ConnectionsScreenProps = {
  connections: Promise<ConnectionView[]>;
  /** Owners and admins may change connections of the whole team. */
  canChangeShared: boolean;
  /** All roles except viewers may add their own connections. */
  canAdd: boolean;
  viewer: { memberId: string; name: string };
  /** For owners and admins: other members' connections, and the members who can be allowed to see their jobs. */
  team?: { personal: Promise<Result<PersonalConnectionView[], Failure>>; members: Promise<Result<MemberView[], Failure>> };
};

export function ConnectionsScreen({ connections, canChangeShared, canAdd, viewer, team }: ConnectionsScreenProps) {
  const t = useTranslations("settings");
  const getDenialText = useDenialText();
  const list = use(connections);
  const router = useRouter();
  const [openForm, setOpenForm] = useState<{ form: "add" } | { form: "change"; id: string }>();
  /** The last closed form, whose button gets the focus. */
  const [closedForm, setClosedForm] = useState<typeof openForm>();
  const [removalTarget, setRemovalTarget] = useState<ConnectionView>();
  const actions = useConnectionActions();
  const viewers = useJobViewersDialog(team?.members);
  const canChange = (connection: ConnectionView) => hasFeature(connection, "fullAccess") && (canChangeShared || !connection.shared);

  function close() {
    setClosedForm(openForm);
    setOpenForm(undefined);
  }

  function handleSaved(connection: ConnectionView, check: ConnectionCheck) {
    actions.setCheck(connection.id, check);
    router.refresh();
  }

  async function remove(connection: ConnectionView) {
    setRemovalTarget(undefined);
    if (await actions.remove(connection)) showToast({ tone: "off", text: t("removed", { name: connection.name }) });
  }

  return (
    <SettingsPage
      current="connections"
      tools={
        canAdd && openForm?.form !== "add" ? (
          <Button tone="primary" autoFocus={closedForm?.form === "add"} onClick={() => setOpenForm({ form: "add" })}>
            {t("add")}
          </Button>
        ) : null
      }
    >
      {canChangeShared ? null : <p className="text-ink-3">{canAdd ? t("onlyAdmins") : getDenialText(t("viewerHint"))}</p>}
      {openForm?.form === "add" ? <ConnectionForm canShare={canChangeShared} onSaved={handleSaved} onClose={close} /> : null}
      {actions.failure ? <FailureMessage failure={actions.failure} /> : null}
      <Card title={t("connections")} note={list.length} bodyClassName="p-0">
        {list.length === 0 ? <EmptyState title={t("empty.title")} text={t("empty.text")} /> : null}
        <ul>
          {list.map((connection) =>
            openForm?.form === "change" && openForm.id === connection.id ? (
              <li key={connection.id} className="border-b border-line p-3 last:border-b-0">
                <ConnectionForm connection={connection} canShare={canChangeShared} onSaved={handleSaved} onClose={close} />
              </li>
            ) : (
              <ConnectionItem
                key={connection.id}
                connection={connection}
                check={actions.checks[connection.id]}
                isBusyWith={(connectionAction) => actions.busyWith === `${connectionAction} ${connection.id}`}
                wasJustClosed={closedForm?.form === "change" && closedForm.id === connection.id}
                canChange={canAdd && canChange(connection)}
                canShowViewers={viewers.openDialog !== undefined}
                onRevoke={(memberId) => void actions.revokeView(connection, memberId)}
                onAction={(connectionAction) => {
                  const { seenBy = [] } = connection;
                  if (connectionAction === "viewers")
                    viewers.openDialog?.({ id: connection.id, ownerId: viewer.memberId, ownerName: viewer.name, seenBy });
                  else if (connectionAction === "change") setOpenForm({ form: "change", id: connection.id });
                  else if (connectionAction === "remove") setRemovalTarget(connection);
                  else void actions.run(connection, connectionAction);
                }}
              />
            ),
          )}
        </ul>
      </Card>
      {team && viewers.openDialog ? <PersonalConnections connections={team.personal} onOpen={viewers.openDialog} /> : null}

      {viewers.dialog}
      <RemovalDialog item={removalTarget} onRemove={(connection) => void remove(connection)} onClose={() => setRemovalTarget(undefined)}>
        {t("removeText")}
      </RemovalDialog>
    </SettingsPage>
  );
}

/** Uses, checks and removes connections, one action at a time. */
function useConnectionActions() {
  const router = useRouter();
  const refreshCounts = useRefreshCounts();
  const { busyWith, failure, send } = useRequests<`${ConnectionAction} ${string}`>();
  const [checks, setChecks] = useState<Readonly<Partial<Record<string, ConnectionCheck>>>>({});
  const setCheck = (id: string, check: ConnectionCheck | undefined) => setChecks((current) => ({ ...current, [id]: check }));

  async function sendAction<T>(
    connectionAction: ConnectionAction,
    id: string,
    method: "POST" | "DELETE",
    path: `/${string}`,
  ): Promise<Result<T, ApiFailure>> {
    const result = await send(`${connectionAction} ${id}`, callApi<T>(path, { method }));
    // Refreshes the counts, so that the frame shows the same state as the check.
    if (connectionAction === "check") await refreshCounts();
    // The frame also shows connections, and a changed role permits other actions.
    if (result.ok || result.failure.code === "ROLE_TOO_LOW") router.refresh();
    return result;
  }

  return {
    busyWith,
    failure,
    checks,
    setCheck,
    run: async ({ id }: ConnectionView, action: "use" | "check") => {
      const result = await sendAction<{ check?: ConnectionCheck } | undefined>(action, id, "POST", getConnectionPath(id, action));
      if (result.ok && result.value?.check) setCheck(id, result.value.check);
      // Otherwise, a URL that selects another connection would keep showing that one.
      if (result.ok && action === "use") router.replace("/settings");
    },
    revokeView: async ({ id }: ConnectionView, memberId: string) => sendAction("viewers", id, "DELETE", getViewerPath(id, memberId)),
    /** Returns true if the connection was removed. */
    remove: async ({ id }: ConnectionView): Promise<boolean> => (await sendAction("remove", id, "DELETE", getConnectionPath(id))).ok,
  };
}

type ConnectionAction = "use" | "check" | "change" | "remove" | "viewers";
type ConnectionItemProps = {
  connection: ConnectionView;
  check?: ConnectionCheck;
  isBusyWith: (connectionAction: ConnectionAction) => boolean;
  canChange: boolean;
  /** Whether the connection's form was just closed, so that its button gets the focus. */
  wasJustClosed?: boolean;
  /** Whether admins can choose who sees the jobs of their own connection. */
  canShowViewers?: boolean;
  onAction: (connectionAction: ConnectionAction) => void;
  /** Revokes a member's access to the connection's jobs. */
  onRevoke: (memberId: string) => void;
};

function ConnectionItem({
  connection,
  check,
  isBusyWith,
  canChange,
  wasJustClosed = false,
  canShowViewers = false,
  onAction,
  onRevoke,
}: ConnectionItemProps) {
  const t = useTranslations("settings");
  const tConnection = useTranslations("frame.connection");
  const { name, baseUrl, accountUrl, embedded, shared, fingerprint, current, seenOf, seenBy } = connection;
  const status = useConnectionStatus()(connection);
  const renderActionButton = (kind: ConnectionAction, label: string) => (
    <Button
      key={kind}
      size="small"
      tone={kind === "remove" ? "danger" : "plain"}
      busy={isBusyWith(kind)}
      autoFocus={wasJustClosed && kind === "change"}
      aria-label={t("actOn", { act: label, name })}
      onClick={() => onAction(kind)}
    >
      {label}
    </Button>
  );
  return (
    <li data-connection={connection.id} className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 className="font-semibold">{name}</h3>
        <StatusBadge tone={connectionTones[status]} label={tConnection(status)} />
        {current ? <span className="text-sm text-ink-3">{tConnection("current")}</span> : null}
        <span className="ml-auto flex flex-wrap gap-1.5">
          {current ? null : renderActionButton("use", t("use"))}
          {seenOf === undefined ? renderActionButton("check", isBusyWith("check") ? t("checking") : t("check")) : null}
          {canShowViewers && seenBy ? renderActionButton("viewers", t("jobViewers.open")) : null}
          {canChange ? renderActionButton("change", t("change")) : null}
          {canChange && !embedded ? renderActionButton("remove", t("remove")) : null}
        </span>
      </div>
      <dl className="grid grid-cols-[92px_minmax(0,1fr)] gap-y-1 text-ink-2">
        {seenOf === undefined ? <Fact name={t("address")}>{embedded ? t("embedded") : baseUrl}</Fact> : null}
        {accountUrl ? <Fact name={t("account")}>{accountUrl}</Fact> : null}
        <Fact name={t("usedBy")}>
          {seenOf === undefined ? t(shared ? "usedByTeam" : "usedByYou") : t("jobViewers.readOnly", { owner: seenOf })}
        </Fact>
        {seenBy && seenBy.length > 0 ? <JobViewers viewers={seenBy} onRevoke={onRevoke} /> : null}
        <Fact name={t("key")}>
          {seenOf === undefined ? tConnection(getKeyLabelKey(connection)) : t("jobViewers.keyOf", { owner: seenOf })}
          {fingerprint ? (
            <>
              {" · "}
              <span className="font-mono text-sm" title={t("fingerprint")}>
                {fingerprint}
              </span>
            </>
          ) : null}
        </Fact>
      </dl>
      {check ? <ConnectionCheckNotice check={check} /> : null}
    </li>
  );
}

/** Shows the owner who else can see their jobs, with a button to revoke access. */
function JobViewers({ viewers, onRevoke }: { viewers: readonly JobViewerView[]; onRevoke: (memberId: string) => void }) {
  const t = useTranslations("settings.jobViewers");
  return (
    <Fact name={t("seen")}>
      <ul className="flex flex-col gap-1">
        {viewers.map(({ memberId, name, givenBy, givenAt }) => (
          <li key={memberId} className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium text-ink">{name}</span>
            <span className="text-sm text-ink-3">
              {t.rich(givenBy ? "givenBy" : "given", { giver: givenBy ?? "", time: () => <RelativeTime ms={givenAt} /> })}
            </span>
            <Button size="small" tone="quiet" aria-label={t("takeFrom", { name })} onClick={() => onRevoke(memberId)}>
              {t("take")}
            </Button>
          </li>
        ))}
      </ul>
    </Fact>
  );
}
