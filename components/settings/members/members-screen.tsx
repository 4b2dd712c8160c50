"use client";

import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { useCanChange } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/controls/button";
import { type InvitationItem, type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { InvitationList } from "./invitation-list";
import { InviteForm } from "./invite-form";
import { MemberList } from "./member-list";
import { rolesToGive, type SettingsViewer } from "./member-rights";

/** The address parameter that opens the invitation form. */
const INVITE = "invite";

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
        {members && canChange && !isInviting ? (
          <Button tone="primary" autoFocus={hasInvited} onClick={() => setInviting(true)}>
            {t("members.invite")}
          </Button>
        ) : null}
      </PageHeader>
      <SettingsTabs current="members" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        {members ? (
          <>
            {isInviting && canChange ? <InviteForm choices={rolesToGive(viewer)} onClose={close} /> : null}
            <MemberList viewer={viewer} members={members} />
            {invitations ? <InvitationList invitations={invitations} /> : null}
            {children}
          </>
        ) : (
          <p className="text-ink-2">{t("members.notYours", { role: roleName(viewer.role) })}</p>
        )}
      </div>
    </>
  );
}
