import { useTranslations } from "next-intl";
import { type FormEvent, use, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type JobViewerView, type MemberView, type PersonalConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { getConnectionPath } from "./connection-form";

type PersonalConnectionsProps = {
  connections: Promise<Result<PersonalConnectionView[], Failure>>;
  onOpen: (connection: ConnectionWithViewers) => void;
};

/** Lists other members' connections for admins. Shows owners and viewers, but never names and URLs. */
export function PersonalConnections({ connections, onOpen }: PersonalConnectionsProps) {
  const t = useTranslations("settings.jobViewers");
  const settingsTexts = useTranslations("settings");
  const router = useRouter();
  const result = use(connections);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  const list = result.value;
  if (list.length === 0) return null;
  return (
    <Card title={t("personal")} note={list.length} bodyClassName="p-0">
      <ul>
        {list.map((connection) => (
          <li
            key={connection.id}
            data-personal={connection.id}
            className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3.5 py-2.5 last:border-b-0"
          >
            <div className="min-w-0 flex-1">
              <p className="truncate font-semibold">{t("of", { owner: connection.ownerName })}</p>
              <p className="text-sm text-ink-3">
                {t.rich("added", { time: () => <RelativeTime ms={connection.createdAt} /> })}
                {" · "}
                {connection.seenBy.length === 0 ? t("seenByNobody") : t("seenBy", { names: joinNames(connection.seenBy) })}
              </p>
            </div>
            <Button
              size="small"
              aria-haspopup="dialog"
              aria-label={settingsTexts("actOn", { act: t("open"), name: connection.ownerName })}
              onClick={() => onOpen(connection)}
            >
              {t("open")}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function joinNames(viewers: ConnectionWithViewers["seenBy"]): string {
  return viewers.map(({ name }) => name).join(", ");
}

/** Manages the dialog for a connection's job viewers. */
export function useJobViewersDialog(members: Promise<Result<MemberView[], Failure>> | undefined) {
  const router = useRouter();
  const [selectedConnection, setSelectedConnection] = useState<ConnectionWithViewers>();
  const dialog =
    selectedConnection && members ? (
      <JobViewersDialog
        key={selectedConnection.id}
        connection={selectedConnection}
        members={members}
        onChanged={() => router.refresh()}
        onClose={() => setSelectedConnection(undefined)}
      />
    ) : null;
  return { openDialog: members ? setSelectedConnection : undefined, dialog };
}

type ConnectionWithViewers = { id: string; ownerId: string; ownerName: string; seenBy: readonly JobViewerView[] };
type JobViewersDialogProps = {
  connection: ConnectionWithViewers;
  members: Promise<Result<MemberView[], Failure>>;
  /** Called after any change, even if others failed. */
  onChanged: () => void;
  onClose: () => void;
};

export function getViewerPath(connectionId: string, memberId: string): `/${string}` {
  return `${getConnectionPath(connectionId)}/viewers/${encodeURIComponent(memberId)}`;
}

/** Lets admins choose who can see the jobs of a member's personal connection. */
function JobViewersDialog({ connection, members, onChanged, onClose }: JobViewersDialogProps) {
  const t = useTranslations("settings.jobViewers");
  const formId = useId();
  const membersResult = use(members);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const { id, ownerId, ownerName, seenBy } = connection;
  const otherMembers = membersResult.ok ? membersResult.value.filter((member) => member.id !== ownerId) : [];
  const isViewer = (memberId: string) => seenBy.some((viewer) => viewer.memberId === memberId);

  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const selectedIds = new Set(new FormData(event.currentTarget).getAll("member"));
    const changedMembers = otherMembers.filter((member) => selectedIds.has(member.id) !== isViewer(member.id));
    setBusy(true);
    setFailure(undefined);
    for (const member of changedMembers) {
      const result = await callApi(getViewerPath(id, member.id), { method: selectedIds.has(member.id) ? "PUT" : "DELETE" });
      if (result.ok) continue;
      setFailure(result.failure);
      setBusy(false);
      return onChanged();
    }
    if (changedMembers.length > 0) onChanged();
    onClose();
  }

  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t("title", { owner: ownerName })}
      tone="primary"
      form={formId}
      label={t("save")}
      isBusy={isBusy}
    >
      <p>{t("text", { owner: ownerName })}</p>
      <form id={formId} onSubmit={(event) => void save(event)} className="mt-3 flex max-h-72 flex-col gap-2 overflow-y-auto">
        {otherMembers.map((member) => (
          <label key={member.id} className="flex min-w-0 items-center gap-2">
            <input type="checkbox" name="member" value={member.id} defaultChecked={isViewer(member.id)} className="size-4 shrink-0" />
            <span className="truncate text-ink">{member.name}</span>
            <span className="truncate text-sm text-ink-3">{member.email}</span>
          </label>
        ))}
        {otherMembers.length === 0 && membersResult.ok ? <p className="text-ink-3">{t("nobody")}</p> : null}
      </form>
      {membersResult.ok ? null : <FailureMessage failure={membersResult.failure} className="mt-2" />}
      {failure ? <FailureMessage failure={failure} className="mt-2" /> : null}
    </ConfirmDialog>
  );
}
