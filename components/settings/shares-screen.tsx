"use client";

import { useTranslations } from "next-intl";
import { EmptyState } from "@/components/ui/empty-state";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { useRenderedMs, useRenderedValue, useTimeFormat } from "@/components/ui/time";
import { type Role } from "@/lib/contract/members/roles";
import { type ShareState, type ShareView } from "@/lib/contract/share";
import { expiresSoon } from "@/lib/contract/times";
import { RevocableList } from "./revocable-list";
import { SettingsPage } from "./settings-tabs";

const stateTones: Readonly<Record<ShareState | "soon", Tone>> = {
  open: "ok",
  soon: "wait",
  expired: "off",
  revoked: "off",
  closed: "wait",
};

/** `shares` is absent for roles that can't create any. */
type SharesScreenProps = { role: Role; shares?: readonly ShareView[]; isSharingEnabled: boolean };

export function SharesScreen({ role, shares, isSharingEnabled }: SharesScreenProps) {
  const t = useTranslations("sharing.list");
  const roleName = useTranslations("frame.member.role");
  const formatTime = useTimeFormat();
  const describeShare = useDescribeShare();
  return (
    <SettingsPage current="shares">
      {shares && !isSharingEnabled ? <p className="text-ink-2">{t("off")}</p> : null}
      {shares ? (
        <RevocableList
          messageNamespace="sharing.list"
          path="/api/console/shares"
          title={t("title")}
          items={shares.map((share) => ({
            ...share,
            name: share.title || t("untitled", { made: formatTime(share.createdAt, "until") ?? "" }),
          }))}
          getDescription={(share) => describeShare(share).join(" · ")}
          isActive={({ state }) => state === "open" || state === "closed"}
          emptyState={<EmptyState title={t("none")} text={t("noneText")} />}
          renderItem={(share) => <ShareRow share={share} name={share.name} description={describeShare(share)} />}
        />
      ) : (
        <p className="text-ink-2">{t("notYours", { role: roleName(role) })}</p>
      )}
    </SettingsPage>
  );
}

/** Describes a share, to distinguish shares with the same title. */
function useDescribeShare(): (share: ShareView) => string[] {
  const t = useTranslations("sharing.list");
  const formatTime = useTimeFormat();
  return ({ count, ofJob, connection, isOwn, maker, hasPassword, keepsMetadata, showsWorkflow, createdAt }) => {
    const createdAtText = formatTime(createdAt, "until");
    return [
      t("files", { count }) + (ofJob ? ` ${t("ofJob")}` : ""),
      ...(createdAtText ? [t("made", { made: createdAtText })] : []),
      connection,
      ...(isOwn ? [] : [t("by", { name: maker })]),
      ...(hasPassword ? [t("password")] : []),
      ...(keepsMetadata ? [t("metadata")] : []),
      ...(showsWorkflow ? [t("workflow")] : []),
    ];
  };
}

function ShareRow({ share, name, description }: { share: ShareView; name: string; description: readonly string[] }) {
  const t = useTranslations("sharing.list");
  const formatTime = useTimeFormat();
  const { expiresAt, views, downloads } = share;
  const expiryText = formatTime(expiresAt, "until");
  const isExpiringSoon = useRenderedValue(useRenderedMs(), (nowMs) => share.state === "open" && expiresSoon(share, nowMs));
  const state = isExpiringSoon ? "soon" : share.state;
  return (
    <>
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <p className="truncate font-semibold" title={name}>
          {name}
        </p>
        <p className="text-sm break-words text-ink-3">{description.join(" · ")}</p>
        <p className="text-sm text-ink-3">
          {share.state === "open" && expiryText ? t("until", { until: expiryText }) : null}
          {state === "closed" ? t("closedHint") : null}
        </p>
      </div>
      <span className="text-sm sm:w-[150px] text-ink-2 tabular-nums">
        {t("views", { count: views })}, {t("downloads", { count: downloads })}
      </span>
      <span className="sm:w-[92px]">
        <StatusBadge tone={stateTones[state]} label={t(`state.${state}`)} />
      </span>
    </>
  );
}
