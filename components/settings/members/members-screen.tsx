"use client";

import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type FormEvent, type ReactNode, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useCanChange } from "@/components/frame/member-context";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { fieldText, InputField } from "@/components/ui/controls/form-field";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { callApi, type CallInit } from "@/lib/browser/api";
import { useRequests } from "@/lib/browser/use-read";
import { type InvitationItem, type MemberView, type ReadOnlyView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { SettingsPage } from "../settings-tabs";
import { InvitationList, InviteForm } from "./invite-form";
import { assignableRoles, MemberList, type SettingsViewer } from "./member-list";

/** The URL parameter that opens the invitation form. */
const INVITE_PARAM = "invite";

type MembersScreenProps = {
  viewer: SettingsViewer;
  /** Absent for roles that may not see them. */
  members?: Promise<Result<MemberView[], Failure>>;
  /** Present together with `members`. */
  invitations?: Promise<Result<InvitationItem[], Failure>>;
  /** Below the lists. */
  children?: ReactNode;
};

export function MembersScreen({ viewer, members, invitations, children }: MembersScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const canChange = useCanChange();
  const hasInviteParam = useSearchParams()?.has(INVITE_PARAM) ?? false;
  const [wasRequested, setRequested] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const [hasInvited, setHasInvited] = useState(false);
  if (hasInviteParam !== wasRequested) {
    setRequested(hasInviteParam);
    if (hasInviteParam) setInviting(true);
  }
  function close() {
    setInviting(false);
    setHasInvited(true);
    // A reload must not open the form again.
    if (hasInviteParam) window.history.replaceState(null, "", window.location.pathname);
  }
  return (
    <SettingsPage
      current="members"
      tools={
        members && canChange && !isInviting ? (
          <Button tone="primary" autoFocus={hasInvited} onClick={() => setInviting(true)}>
            {t("members.invite")}
          </Button>
        ) : null
      }
    >
      {members ? (
        <>
          {isInviting && canChange ? <InviteForm choices={assignableRoles(viewer)} onClose={close} /> : null}
          <MemberList viewer={viewer} members={members} />
          {invitations ? <InvitationList invitations={invitations} /> : null}
          {children}
        </>
      ) : (
        <p className="text-ink-2">{t("members.notYours", { role: roleName(viewer.role) })}</p>
      )}
    </SettingsPage>
  );
}

/** Lets owners and admins make the whole console read-only. */
export function ReadOnlyCard({ readOnly }: { readOnly: ReadOnlyView | undefined }) {
  const t = useTranslations("settings.readOnlyCard");
  const router = useRouter();
  const { busyWith, failure, send } = useRequests<"switch">();
  const isBusy = busyWith !== undefined;
  /** Set while the confirmation is open. */
  const [pendingSwitch, setPendingSwitch] = useState<{ note: string }>();

  async function call(init: CallInit) {
    const result = await send("switch", callApi("/api/console/read-only", init));
    // Refreshes, since the frame shows it and pages offer other actions.
    if (result.ok) router.refresh();
  }
  function begin(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setPendingSwitch({ note: fieldText(new FormData(event.currentTarget), "note").trim() });
  }
  function confirm() {
    const note = pendingSwitch?.note ?? "";
    setPendingSwitch(undefined);
    void call({ method: "PUT", json: note === "" ? {} : { note } });
  }

  return (
    <Card title={t("title")} bodyClassName="flex flex-col items-start gap-3">
      {failure ? <FailureMessage failure={failure} /> : null}
      {readOnly ? (
        <>
          <p className="max-w-[62ch] text-ink-2">{t.rich("on", { name: readOnly.by, time: () => <RelativeTime ms={readOnly.since} /> })}</p>
          <Button tone="primary" busy={isBusy} onClick={() => void call({ method: "DELETE" })}>
            {isBusy ? t("ending") : t("end")}
          </Button>
        </>
      ) : (
        <form method="post" onSubmit={begin} className="flex w-full max-w-[420px] flex-col items-start gap-3">
          <p className="text-ink-2">{t("off")}</p>
          <div className="w-full">
            <InputField label={t("note")} name="note" maxLength={200} autoComplete="off" />
          </div>
          <Button type="submit" tone="danger" busy={isBusy}>
            {isBusy ? t("beginning") : t("begin")}
          </Button>
        </form>
      )}
      <ConfirmDialog
        isOpen={pendingSwitch !== undefined}
        title={t("askTitle")}
        label={t("begin")}
        onConfirm={confirm}
        onClose={() => setPendingSwitch(undefined)}
      >
        <p>{t("askText")}</p>
      </ConfirmDialog>
    </Card>
  );
}
