import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { StatusBadge } from "@/components/ui/status-badge";
import { type Tone } from "@/components/ui/tone";
import { useClock } from "@/components/ui/time/use-clock";
import { type InvitationItem } from "@/lib/contract/console";

const tones: Readonly<Record<InvitationItem["state"], Tone>> = { open: "wait", used: "ok", expired: "off", withdrawn: "off" };

type InvitationRowProps = { invitation: InvitationItem; isBusy: boolean; canWithdraw: boolean; onWithdraw: () => void };

export function InvitationRow({ invitation, isBusy, canWithdraw, onWithdraw }: InvitationRowProps) {
  const t = useTranslations("settings.invitations");
  const settings = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const clock = useClock();
  const { id, email, role, state, invitedBy, createdAt, expiresAt } = invitation;
  const until = clock(expiresAt, "until");
  return (
    <li
      data-invitation={id}
      aria-busy={isBusy || undefined}
      className="flex min-h-[46px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-3.5 py-2 last:border-b-0"
    >
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <p className="truncate font-semibold" title={email}>
          {email}
        </p>
        <p className="text-sm text-ink-3">
          {invitedBy === undefined ? t("byGone") : t("by", { name: invitedBy })}
          {createdAt === undefined ? null : <> · {t.rich("made", { time: () => <RelativeTime ms={createdAt} /> })}</>}
          {state === "open" && until ? <> · {t("until", { until })}</> : null}
        </p>
      </div>
      <span className="w-[72px]">{roleName(role)}</span>
      <span className="w-[92px]">
        <StatusBadge tone={tones[state]} word={t(`state.${state}`)} />
      </span>
      <span className="ml-auto flex w-[92px] justify-end">
        {state === "open" && canWithdraw ? (
          <Button
            size="small"
            tone="danger"
            busy={isBusy}
            aria-label={settings("actOn", { act: t("withdraw"), name: email })}
            onClick={onWithdraw}
          >
            {t("withdraw")}
          </Button>
        ) : null}
      </span>
    </li>
  );
}
