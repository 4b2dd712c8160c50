import { useTranslations } from "next-intl";
import { use } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useCanChange } from "@/components/frame/member-context";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useClock } from "@/components/ui/time/use-clock";
import { useReadingFrom, useRenderedMs } from "@/components/ui/time/use-now";
import { type Tone } from "@/components/ui/tone";
import { type InvitationItem } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { expiresSoon } from "@/lib/contract/times";
import { type Result } from "@/lib/shared/result";
import { RevocableList } from "../revocable-list";

export function InvitationList({ invitations }: { invitations: Promise<Result<InvitationItem[], Failure>> }) {
  const t = useTranslations("settings.invitations");
  const router = useRouter();
  const canRevoke = useCanChange();
  const result = use(invitations);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  return (
    <RevocableList
      words="settings.invitations"
      path="/api/console/members/invitations"
      title={t("title")}
      items={result.value.map((item) => ({ ...item, name: item.email }))}
      isOpen={({ state }) => state === "open"}
      canRevoke={canRevoke}
      none={<p className="px-3.5 py-3 text-ink-3">{t("none")}</p>}
      row={(item) => <Invitation invitation={item} />}
    />
  );
}

const tones: Readonly<Record<InvitationItem["state"] | "soon", Tone>> = {
  open: "wait",
  soon: "wait",
  used: "ok",
  expired: "off",
  withdrawn: "off",
};

function Invitation({ invitation }: { invitation: InvitationItem }) {
  const t = useTranslations("settings.invitations");
  const roleName = useTranslations("frame.member.role");
  const clock = useClock();
  const { email, role, state, invitedBy, createdAt, expiresAt } = invitation;
  const until = clock(expiresAt, "until");
  const isSoon = useReadingFrom(useRenderedMs(), (nowMs) => state === "open" && expiresSoon(invitation, nowMs));
  const shown = isSoon ? "soon" : state;
  return (
    <>
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
      <span className="w-[116px]">
        <StatusBadge tone={tones[shown]} word={t(`state.${shown}`)} />
      </span>
    </>
  );
}
