import { useTranslations } from "next-intl";
import { Avatar } from "@/components/ui/avatar";
import { Button } from "@/components/ui/controls/button";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type MemberView } from "@/lib/contract/console";
import { type MemberMethods } from "@/lib/contract/people/sign-in";

type MemberItemProps = {
  member: MemberView;
  isViewer: boolean;
  canChange: boolean;
  isBusy: boolean;
  onChangeRole: () => void;
  onSuspend: () => void;
  onAdmit: () => void;
  onRemove: () => void;
};

export function MemberItem({ member, isViewer, canChange, isBusy, onChangeRole, onSuspend, onAdmit, onRemove }: MemberItemProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const { id, name, email, role, disabled, createdAt, seenAt, roleFrom, methods } = member;
  const waysIn = ({ password, providers }: MemberMethods) => {
    const all = [...(password ? [t("members.password")] : []), ...providers];
    return all.length === 0 ? t("members.noMethod") : t("members.signsIn", { methods: all.join(" · ") });
  };
  const button = (label: string, act: () => void, tone?: "danger") => (
    <Button size="small" tone={tone} busy={isBusy} aria-label={t("actOn", { act: label, name })} onClick={act}>
      {label}
    </Button>
  );
  return (
    <li
      data-member={id}
      aria-busy={isBusy || undefined}
      className="flex min-h-[46px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-3.5 py-2 last:border-b-0"
    >
      <div className="flex min-w-0 flex-1 basis-full items-center gap-2.5 sm:basis-0">
        <Avatar name={name} className="size-7" />
        <div className="min-w-0">
          <p className="flex items-center gap-2">
            <span className="truncate font-semibold" title={name}>
              {name}
            </span>
            {isViewer ? <span className="text-sm text-ink-3">{t("members.you")}</span> : null}
            {disabled ? <StatusBadge tone="off" word={t("members.disabled")} /> : null}
          </p>
          <p className="truncate text-sm text-ink-3" title={email}>
            {email}
          </p>
          <p className="truncate text-sm text-ink-3">
            {t.rich("members.joined", { time: () => <RelativeTime ms={createdAt} /> })}
            {methods ? ` · ${waysIn(methods)}` : null}
          </p>
        </div>
      </div>
      <div className="w-[132px]">
        <p>{roleName(role)}</p>
        {roleFrom === undefined ? null : <p className="text-sm break-words text-ink-3">{t("members.roleFrom", { provider: roleFrom })}</p>}
      </div>
      <span className="w-[132px] text-sm text-ink-3">
        {seenAt === undefined ? t("members.neverSeen") : t.rich("members.seen", { time: () => <RelativeTime ms={seenAt} /> })}
      </span>
      <span className="ml-auto flex min-w-[246px] flex-wrap justify-end gap-1.5">
        {canChange ? (
          <>
            {roleFrom === undefined ? button(t("members.changeRole"), onChangeRole) : null}
            {disabled ? button(t("members.admit"), onAdmit) : button(t("members.suspend"), onSuspend, "danger")}
            {button(t("remove"), onRemove, "danger")}
          </>
        ) : role === "owner" && !isViewer ? (
          <span className="text-sm text-ink-3">{t("members.ownerStays")}</span>
        ) : null}
      </span>
    </li>
  );
}
