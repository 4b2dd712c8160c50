import { useTranslations } from "next-intl";
import { type Role } from "@/lib/contract/roles";
import { SignOutButton } from "./sign-out-button";
import { ThemeSwitch } from "./theme-switch";

export type FrameMember = { name: string; role: Role };

export function MemberRow({ member }: { member: FrameMember }) {
  const t = useTranslations("frame.member");
  return (
    <div className="flex items-center gap-2 px-2 py-1.5 text-ink-2">
      <span aria-hidden="true" className="grid size-6 shrink-0 place-items-center rounded-full bg-line-strong text-xs text-ink">
        {initialsOf(member.name)}
      </span>
      <span className="min-w-0 flex-1 truncate leading-tight" title={member.name}>
        {t(`role.${member.role}`)}
      </span>
      <ThemeSwitch />
      <SignOutButton />
    </div>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  return [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0]?.toUpperCase() ?? "").join("");
}
