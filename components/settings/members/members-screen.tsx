"use client";

import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/controls/button";
import { type InvitationItem, type MemberView, type ReadOnlyView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { InvitationList } from "./invitation-list";
import { InviteForm } from "./invite-form";
import { MemberList } from "./member-list";
import { rolesToGive, type SettingsViewer } from "./member-rights";
import { ReadOnlyCard } from "./read-only-card";

/** The address parameter that opens the invitation form. */
const INVITE = "invite";

type MembersScreenProps = {
  viewer: SettingsViewer;
  /** If present, nothing but this can be changed. */
  readOnly?: ReadOnlyView;
  /** Absent for roles that may not see them. */
  members?: Promise<Result<MemberView[], Failure>>;
  /** Present together with `members`. */
  invitations?: Promise<Result<InvitationItem[], Failure>>;
};

export function MembersScreen({ viewer, readOnly, members, invitations }: MembersScreenProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const asked = useSearchParams()?.has(INVITE) ?? false;
  const [wasAsked, setWasAsked] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const [hasInvited, setHasInvited] = useState(false);
  if (asked !== wasAsked) {
    setWasAsked(asked);
    if (asked) setInviting(true);
  }
  function close() {
    setInviting(false);
    setHasInvited(true);
    // A reload must not open the form again.
    if (asked) window.history.replaceState(null, "", window.location.pathname);
  }
  return (
    <>
      <PageHeader title={t("title")}>
        {members && !readOnly && !isInviting ? (
          <Button tone="primary" autoFocus={hasInvited} onClick={() => setInviting(true)}>
            {t("members.invite")}
          </Button>
        ) : null}
      </PageHeader>
      <SettingsTabs current="members" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        {members ? (
          <>
            {isInviting && !readOnly ? <InviteForm choices={rolesToGive(viewer)} onClose={close} /> : null}
            <MemberList viewer={viewer} isReadOnly={readOnly !== undefined} members={members} />
            {invitations ? <InvitationList invitations={invitations} isReadOnly={readOnly !== undefined} /> : null}
            <ReadOnlyCard readOnly={readOnly} />
          </>
        ) : (
          <p className="text-ink-2">{t("members.notYours", { role: roleName(viewer.role) })}</p>
        )}
      </div>
    </>
  );
}
