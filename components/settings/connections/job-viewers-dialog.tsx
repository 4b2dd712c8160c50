import { useTranslations } from "next-intl";
import { type FormEvent, use, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobViewerView, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { connectionPath } from "./save-connection";

export type SeenConnection = { id: string; ownerId: string; ownerName: string; seenBy: readonly JobViewerView[] };
type JobViewersDialogProps = {
  connection: SeenConnection;
  members: Promise<Result<MemberView[], Failure>>;
  /** Something was changed, even if not everything. */
  onChanged: () => void;
  onClose: () => void;
};

export function viewerPath(connectionId: string, memberId: string): `/${string}` {
  return `${connectionPath(connectionId)}/viewers/${encodeURIComponent(memberId)}`;
}

/** Who sees the jobs of a member's own connection, for admins. */
export function JobViewersDialog({ connection, members, onChanged, onClose }: JobViewersDialogProps) {
  const t = useTranslations("settings.jobViewers");
  const common = useTranslations("common");
  const form = useId();
  const known = use(members);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const { id, ownerId, ownerName, seenBy } = connection;
  const others = known.ok ? known.value.filter((member) => member.id !== ownerId) : [];
  const has = (memberId: string) => seenBy.some((viewer) => viewer.memberId === memberId);

  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const chosen = new Set(new FormData(event.currentTarget).getAll("member"));
    const changed = others.filter((member) => chosen.has(member.id) !== has(member.id));
    setBusy(true);
    setFailure(undefined);
    for (const member of changed) {
      const result = await callApi(viewerPath(id, member.id), { method: chosen.has(member.id) ? "PUT" : "DELETE" });
      if (result.ok) continue;
      setFailure(result.failure);
      setBusy(false);
      return onChanged();
    }
    if (changed.length > 0) onChanged();
    onClose();
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title", { owner: ownerName })}
      actions={
        <>
          <Button onClick={onClose}>{common("cancel")}</Button>
          <Button type="submit" form={form} tone="primary" busy={isBusy}>
            {t("save")}
          </Button>
        </>
      }
    >
      <p>{t("text", { owner: ownerName })}</p>
      <form id={form} onSubmit={(event) => void save(event)} className="mt-3 flex max-h-72 flex-col gap-2 overflow-y-auto">
        {others.map((member) => (
          <label key={member.id} className="flex min-w-0 items-center gap-2">
            <input type="checkbox" name="member" value={member.id} defaultChecked={has(member.id)} className="size-4 shrink-0" />
            <span className="truncate text-ink">{member.name}</span>
            <span className="truncate text-sm text-ink-3">{member.email}</span>
          </label>
        ))}
        {others.length === 0 && known.ok ? <p className="text-ink-3">{t("nobody")}</p> : null}
      </form>
      {known.ok ? null : <FailureMessage failure={known.failure} className="mt-2" />}
      {failure ? <FailureMessage failure={failure} className="mt-2" /> : null}
    </Dialog>
  );
}
