"use client";

import { useTranslations } from "next-intl";
import { Avatar } from "@/components/ui/card";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { type Role } from "@/lib/contract/members/roles";
import { ThemeSwitch } from "../appearance/theme";
import { useConnectionParam } from "../connection/connection-context";
import { SignOutButton } from "./sign-out-button";

export type FrameMember = { id: string; name: string; email: string; role: Role };

export function MemberRow({ member }: { member: FrameMember }) {
  const t = useTranslations("frame.member");
  return (
    <div className="flex items-center gap-1 px-1 py-1.5 text-ink-2">
      <Link
        href={withQuery("/settings/account", { connection: useConnectionParam() })}
        aria-label={`${member.name}, ${t(`role.${member.role}`)}`}
        title={member.name}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-md hover:text-ink"
      >
        <Avatar name={member.name} />
        <span className="hidden min-w-0 leading-tight md:block">
          <span className="block truncate">{member.name}</span>
          <span className="block truncate text-sm text-ink-3">{t(`role.${member.role}`)}</span>
        </span>
      </Link>
      <ThemeSwitch />
      <SignOutButton />
    </div>
  );
}
