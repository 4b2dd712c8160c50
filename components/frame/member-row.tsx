import { useTranslations } from "next-intl";
import { Avatar } from "@/components/ui/avatar";
import { Link } from "@/components/ui/link";
import { type Role } from "@/lib/contract/roles";
import { SignOutButton } from "./sign-out-button";
import { ThemeSwitch } from "./theme-switch";

export type FrameMember = { name: string; role: Role };

export function MemberRow({ member }: { member: FrameMember }) {
  const t = useTranslations("frame.member");
  return (
    <div className="flex items-center gap-1 px-1 py-1.5 text-ink-2">
      <Link
        href="/settings/account"
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
