"use client";

import { useRouter } from "@/components/ui/hooks/use-router";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { Button } from "@/components/ui/controls/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { StatusBadge } from "@/components/ui/status-badge";
import { useClock } from "@/components/ui/time/use-clock";
import { showToast } from "@/components/ui/toast-store";
import { type Tone } from "@/components/ui/tone";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Role } from "@/lib/contract/roles";
import { type ShareState, type ShareView } from "@/lib/contract/share";
import { RemovalDialog } from "./removal-dialog";
import { SettingsTabs } from "./settings-tabs";

const tones: Readonly<Record<ShareState, Tone>> = { open: "ok", expired: "off", revoked: "off", closed: "wait" };

/** `shares` is absent for roles that make none; `isOn`: the console lets shares work. */
type SharesScreenProps = { role: Role; shares?: readonly ShareView[]; isOn: boolean };
type Named = ShareView & { name: string };

/** The links that still open something, and below them what became of the others. */
export function SharesScreen({ role, shares, isOn }: SharesScreenProps) {
  const t = useTranslations("sharing.list");
  const settings = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  const [leaving, setLeaving] = useState<Named>();
  const [busyWith, setBusyWith] = useState<string>();
  const [failure, setFailure] = useState<ApiFailure>();

  async function revoke({ id, name }: Named) {
    setLeaving(undefined);
    setBusyWith(id);
    setFailure(undefined);
    const done = await callApi(`/api/console/shares/${encodeURIComponent(id)}`, { method: "DELETE" });
    setBusyWith(undefined);
    if (done.ok) showToast({ tone: "off", text: t("revoked", { name }) });
    else setFailure(done.failure);
    if (done.ok || done.failure.code === "NOT_FOUND") router.refresh();
  }

  const isNow = ({ state }: ShareView) => state === "open" || state === "closed";
  const rowOf = (share: ShareView) => {
    const name = share.title || t("untitled");
    return (
      <ShareRow key={share.id} share={share} name={name} isBusy={busyWith === share.id} onRevoke={() => setLeaving({ ...share, name })} />
    );
  };
  const past = shares?.filter((share) => !isNow(share)) ?? [];
  const open = shares?.filter(isNow) ?? [];
  return (
    <>
      <PageHeader title={settings("title")} />
      <SettingsTabs current="shares" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        {failure ? <FailureMessage failure={failure} /> : null}
        {shares && !isOn ? <p className="text-ink-2">{t("off")}</p> : null}
        {shares ? (
          <Card title={t("title")} note={open.length} bodyClassName="p-0">
            {open.length === 0 ? <EmptyState title={t("none")} text={t("noneText")} /> : <ul>{open.map(rowOf)}</ul>}
            {past.length > 0 ? (
              <details className="border-t border-line">
                <summary className="cursor-pointer px-3.5 py-2 text-ink-2 hover:text-ink">
                  {t("past")} <span className="text-ink-3">{past.length}</span>
                </summary>
                <ul className="border-t border-line">{past.map(rowOf)}</ul>
              </details>
            ) : null}
          </Card>
        ) : (
          <p className="text-ink-2">{t("notYours", { role: roleName(role) })}</p>
        )}
      </div>
      <RemovalDialog
        leaving={leaving}
        title={t("revokeTitle", { name: leaving?.name ?? "" })}
        onRemove={(gone) => void revoke(gone)}
        onClose={() => setLeaving(undefined)}
      >
        {t("revokeText")}
      </RemovalDialog>
    </>
  );
}

type ShareRowProps = { share: ShareView; name: string; isBusy: boolean; onRevoke: () => void };

function ShareRow({ share, name, isBusy, onRevoke }: ShareRowProps) {
  const t = useTranslations("sharing.list");
  const settings = useTranslations("settings");
  const clock = useClock();
  const { id, state, maker, isOwn, connection, count, createdAt, expiresAt, views, downloads } = share;
  const until = clock(expiresAt, "until");
  const about = [
    t("files", { count }) + (share.ofJob ? ` ${t("ofJob")}` : ""),
    connection,
    ...(isOwn ? [] : [t("by", { name: maker })]),
    ...(share.hasPassword ? [t("password")] : []),
    ...(share.keepsMetadata ? [t("metadata")] : []),
    ...(share.showsWorkflow ? [t("workflow")] : []),
  ];
  return (
    <li
      data-share={id}
      aria-busy={isBusy || undefined}
      className="flex min-h-[46px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-3.5 py-2 last:border-b-0"
    >
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <p className="truncate font-semibold" title={name}>
          {name}
        </p>
        <p className="text-sm break-words text-ink-3">{about.join(" · ")}</p>
        <p className="text-sm text-ink-3">
          <RelativeTime ms={createdAt} />
          {state === "open" && until ? <> · {t("until", { until })}</> : null}
          {state === "closed" ? <> · {t("closedHint")}</> : null}
        </p>
      </div>
      <span className="w-[150px] text-sm text-ink-2 tabular-nums">
        {t("views", { count: views })}, {t("downloads", { count: downloads })}
      </span>
      <span className="w-[92px]">
        <StatusBadge tone={tones[state]} word={t(`state.${state}`)} />
      </span>
      <span className="ml-auto flex w-[80px] justify-end">
        {state === "open" || state === "closed" ? (
          <Button size="small" tone="danger" busy={isBusy} aria-label={settings("actOn", { act: t("revoke"), name })} onClick={onRevoke}>
            {t("revoke")}
          </Button>
        ) : null}
      </span>
    </li>
  );
}
