"use client";

import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type FormEvent, type ReactNode, use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useCanChange } from "@/components/frame/member-context";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyField } from "@/components/ui/controls/copy-button";
import { getFieldText, InputField } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { type Tone } from "@/components/ui/status-badge";
import { RelativeTime, useRenderedMs, useRenderedValue, useTimeFormat } from "@/components/ui/time";
import { callApi, type CallInit } from "@/lib/browser/api";
import { toUrlWithParam } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { type InvitationItem, type MemberView, type ReadOnlyView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { expiresSoon } from "@/lib/contract/times";
import { type Result } from "@/lib/shared/result";
import { ChoiceField, ResourceForm, SecretCard, useResourceForm } from "../resource-form";
import { RevocableItem, RevocableList } from "../revocable-list";
import { SettingsPage } from "../settings-tabs";
import { type AssignableRole, getAssignableRoles, MemberList, type SettingsViewer } from "./member-list";

/** The URL parameter that opens the invitation form. */
const INVITE_PARAM = "invite";

type MembersScreenProps = {
  viewer: SettingsViewer;
  /** Absent for roles that may not see them. */
  members?: Promise<Result<MemberView[], Failure>>;
  /** Present together with `members`. */
  invitations?: Promise<Result<InvitationItem[], Failure>>;
  /** Shown below the lists. */
  children?: ReactNode;
};

export function MembersScreen({ viewer, members, invitations, children }: MembersScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const canChange = useCanChange();
  const hasInviteParam = useSearchParams()?.has(INVITE_PARAM) ?? false;
  const [hadInviteParam, setHadInviteParam] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const [hasInvited, setHasInvited] = useState(false);
  if (hasInviteParam !== hadInviteParam) {
    setHadInviteParam(hasInviteParam);
    if (hasInviteParam) setInviting(true);
  }
  function close() {
    setInviting(false);
    setHasInvited(true);
    // A reload must not open the form again.
    if (hasInviteParam) window.history.replaceState(null, "", toUrlWithParam(INVITE_PARAM, undefined));
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
          {isInviting && canChange ? <InviteForm choices={getAssignableRoles(viewer)} onClose={close} /> : null}
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

  async function updateMode(init: CallInit) {
    const result = await send("switch", callApi("/api/console/read-only", init));
    // Refreshes, since the frame shows the mode and pages offer other actions.
    if (result.ok) router.refresh();
  }
  function handleSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setPendingSwitch({ note: getFieldText(new FormData(event.currentTarget), "note").trim() });
  }
  function confirm() {
    const note = pendingSwitch?.note ?? "";
    setPendingSwitch(undefined);
    void updateMode({ method: "PUT", json: note === "" ? {} : { note } });
  }

  return (
    <Card title={t("title")} bodyClassName="flex flex-col items-start gap-3">
      {failure ? <FailureMessage failure={failure} /> : null}
      {readOnly ? (
        <>
          <p className="max-w-[62ch] text-ink-2">{t.rich("on", { name: readOnly.by, time: () => <RelativeTime ms={readOnly.since} /> })}</p>
          <Button tone="primary" busy={isBusy} onClick={() => void updateMode({ method: "DELETE" })}>
            {isBusy ? t("ending") : t("end")}
          </Button>
        </>
      ) : (
        <form method="post" onSubmit={handleSubmit} className="flex w-full max-w-[420px] flex-col items-start gap-3">
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

/** Creates a one-time link for the inviting member to send. */
function InviteForm({ choices, onClose }: { choices: readonly AssignableRole[]; onClose: () => void }) {
  const t = useTranslations("settings.members");
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  const [role, setRole] = useState<AssignableRole>("operator");
  const formatTime = useTimeFormat();
  const { busyWith, failure, send } = useResourceForm([]);
  const [invitation, setInvitation] = useState<CreatedInvitation>();

  async function submit(form: HTMLFormElement) {
    const email = String(new FormData(form).get("email") ?? "").trim();
    const json = { email, role };
    const result = await send("save", () =>
      callApi<Omit<CreatedInvitation, "email">>("/api/console/members/invitations", { method: "POST", json }),
    );
    if (!result.ok) return;
    setInvitation({ email, ...result.value });
    // Refreshes the list below.
    router.refresh();
  }

  if (invitation) {
    const { email, url, expiresAt } = invitation;
    const hint = t("linkHint", { email, expiryText: formatTime(expiresAt, "until") ?? "" });
    return (
      <SecretCard title={t("invite")} onClose={onClose}>
        <CopyField label={t("link", { email })} hint={hint} text={url} copyLabel={t("copyLink")} />
      </SecretCard>
    );
  }
  const isEmailTaken = failure?.code === "CONFLICT";
  return (
    <ResourceForm
      title={t("invite")}
      submitLabel={t(busyWith ? "making" : "make")}
      isBusy={busyWith !== undefined}
      failure={isEmailTaken ? undefined : failure}
      onSubmit={(form) => void submit(form)}
      onClose={onClose}
    >
      <InputField
        label={t("email")}
        error={isEmailTaken ? t("taken") : undefined}
        name="email"
        type="email"
        required
        maxLength={254}
        autoComplete="off"
        autoFocus
      />
      <ChoiceField label={t("role")} hint={t(`may.${role}`)} value={role} options={choices} onChoose={setRole}>
        {(choice) => roleName(choice)}
      </ChoiceField>
    </ResourceForm>
  );
}

type CreatedInvitation = { email: string; url: string; expiresAt: number };

export function InvitationList({ invitations }: { invitations: Promise<Result<InvitationItem[], Failure>> }) {
  const t = useTranslations("settings.invitations");
  const router = useRouter();
  const canRevoke = useCanChange();
  const result = use(invitations);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  return (
    <RevocableList
      messageNamespace="settings.invitations"
      path="/api/console/members/invitations"
      title={t("title")}
      items={result.value.map((item) => ({ ...item, name: item.email }))}
      isActive={({ state }) => state === "open"}
      canRevoke={canRevoke}
      emptyState={<p className="px-3.5 py-3 text-ink-3">{t("none")}</p>}
      renderItem={(item) => <Invitation invitation={item} />}
    />
  );
}

const stateTones: Readonly<Record<InvitationItem["state"] | "soon", Tone>> = {
  open: "wait",
  soon: "wait",
  used: "ok",
  expired: "off",
  withdrawn: "off",
};

function Invitation({ invitation }: { invitation: InvitationItem }) {
  const t = useTranslations("settings.invitations");
  const formatTime = useTimeFormat();
  const { email, role, state, invitedBy, createdAt, expiresAt } = invitation;
  const expiryText = formatTime(expiresAt, "until");
  const isExpiringSoon = useRenderedValue(useRenderedMs(), (nowMs) => state === "open" && expiresSoon(invitation, nowMs));
  const displayState = isExpiringSoon ? "soon" : state;
  return (
    <RevocableItem name={email} role={role} tone={stateTones[displayState]} stateText={t(`state.${displayState}`)}>
      <p className="text-sm text-ink-3">
        {invitedBy === undefined ? t("byGone") : t("by", { name: invitedBy })}
        {createdAt === undefined ? null : <> · {t.rich("made", { time: () => <RelativeTime ms={createdAt} /> })}</>}
        {state === "open" && expiryText ? <> · {t("until", { until: expiryText })}</> : null}
      </p>
    </RevocableItem>
  );
}
