import { useTranslations } from "next-intl";
import { Avatar } from "@/components/ui/avatar";
import { type Role } from "@/lib/contract/roles";
import { SignOutButton } from "./sign-out-button";
import { ThemeSwitch } from "./theme-switch";

export type FrameMember = { name: string; role: Role };

export function MemberRow({ member }: { member: FrameMember }) {
  const t = useTranslations("frame.member");
  return (
    <div className="flex items-center gap-2 px-2 py-1.5 text-ink-2">
      <Avatar name={member.name} />
      <span className="min-w-0 flex-1 truncate leading-tight" title={member.name}>
        {t(`role.${member.role}`)}
      </span>
      <ThemeSwitch />
      <SignOutButton />
    </div>
  );
}
