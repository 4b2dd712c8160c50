import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { useRouter } from "@/components/ui/hooks/use-router";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type InvitationItem } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { InvitationRow } from "./invitation-row";
import { RemovalDialog } from "./removal-dialog";

type Named = InvitationItem & { name: string };

/** Those that still open a door, and below them what became of the others. */
type InvitationListProps = { invitations: Promise<Result<InvitationItem[], Failure>>; isReadOnly?: boolean };

export function InvitationList({ invitations, isReadOnly = false }: InvitationListProps) {
  const t = useTranslations("settings.invitations");
  const router = useRouter();
  const result = use(invitations);
  const [leaving, setLeaving] = useState<Named>();
  const [busyWith, setBusyWith] = useState<string>();
  const [failure, setFailure] = useState<ApiFailure>();
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  const open = result.value.filter(({ state }) => state === "open");
  const past = result.value.filter(({ state }) => state !== "open");

  async function withdraw({ id, name }: Named) {
    setLeaving(undefined);
    setBusyWith(id);
    setFailure(undefined);
    const done = await callApi(`/api/console/members/invitations/${encodeURIComponent(id)}`, { method: "DELETE" });
    setBusyWith(undefined);
    if (done.ok) showToast({ tone: "off", text: t("withdrawn", { name }) });
    else setFailure(done.failure);
    // A person may have used it, or taken it back, meanwhile.
    if (done.ok || done.failure.code !== "UNAUTHORIZED") router.refresh();
  }

  const rowOf = (item: InvitationItem) => (
    <InvitationRow
      key={item.id}
      invitation={item}
      isBusy={busyWith === item.id}
      canWithdraw={!isReadOnly}
      onWithdraw={() => setLeaving({ ...item, name: item.email })}
    />
  );
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={t("title")} note={open.length} bodyClassName="p-0">
        {open.length === 0 ? <p className="px-3.5 py-3 text-ink-3">{t("none")}</p> : <ul>{open.map(rowOf)}</ul>}
        {past.length > 0 ? (
          <details className="border-t border-line">
            <summary className="cursor-pointer px-3.5 py-2 text-ink-2 hover:text-ink">
              {t("past")} <span className="text-ink-3">{past.length}</span>
            </summary>
            <ul className="border-t border-line">{past.map(rowOf)}</ul>
          </details>
        ) : null}
      </Card>
      <RemovalDialog
        leaving={leaving}
        title={t("withdrawTitle", { name: leaving?.name ?? "" })}
        onRemove={(gone) => void withdraw(gone)}
        onClose={() => setLeaving(undefined)}
      >
        {t("withdrawText")}
      </RemovalDialog>
    </>
  );
}
