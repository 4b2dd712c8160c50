"use client";

import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { useOfflineGuard } from "@/components/frame/navigation";
import { cn } from "@/components/ui/cn";
import { ButtonLink } from "@/components/ui/link";
import { useHydrated, useNow, useTimeFormat } from "@/components/ui/time";
import { getFreshness, liveState, useIsLive } from "@/lib/browser/live/live-state";
import { withQuery } from "@/lib/browser/urls";

/** The attribute of the element that the key `/` focuses. */
export const FILTERS_ATTRIBUTE = "data-filters";

/**
 * Sticky below the page's header: filters on the left, the view's tools on the right. `isLong`: two rows on narrow screens. Elements below use
 * its height from --tool-bar (globals.css).
 */
export function ToolBar({ label, isLong = false, children }: { label: string; isLong?: boolean; children: ReactNode }) {
  return (
    <div
      role="group"
      aria-label={label}
      {...{ [FILTERS_ATTRIBUTE]: isLong ? "long" : "" }}
      className={`flex min-h-(--tool-bar) shrink-0 items-center gap-x-2 gap-y-1.5 overflow-x-auto border-b border-line bg-bg px-4 py-2 md:sticky md:top-[52px] md:z-20 md:px-5 ${isLong ? "lg:max-xl:h-(--tool-bar) lg:max-xl:flex-wrap xl:max-[90rem]:gap-x-1.5 xl:max-[90rem]:[&_.rounded-full]:px-2" : ""}`}
    >
      {children}
    </div>
  );
}

type FreshnessProps = { atMs: number | undefined; isFailing: boolean };

/** Shows the age of the data: "live", "12 s old", or "not updated since 14:02". */
export function Freshness({ atMs, isFailing }: FreshnessProps) {
  const t = useTranslations("common.age");
  const nowMs = useNow();
  const isHydrated = useHydrated();
  const formatTime = useTimeFormat();
  const isLive = useIsLive();
  if (atMs === undefined) return null;
  const receivedMs = Math.max(atMs, liveState.getState().lastReceivedMs);
  const freshness = getFreshness({ nowMs: isHydrated ? nowMs : receivedMs, updatedMs: receivedMs, isLive, isFailing });
  const formatAge = (seconds: number) =>
    seconds < 100 ? t("seconds", { count: seconds }) : t("minutes", { count: Math.floor(seconds / 60) });
  const text =
    freshness.kind === "aged"
      ? t("aged", { age: formatAge(freshness.seconds) })
      : t(freshness.kind, { time: formatTime(atMs, "minute") ?? "" });
  const dotClass = { live: "bg-ok", aged: "bg-wait", offline: "bg-bad" }[freshness.kind];
  return (
    <span title={t("hint")} data-freshness={freshness.kind} className="inline-flex items-center gap-1.5 text-ink-3 whitespace-nowrap">
      <span aria-hidden="true" className={cn("size-2 rounded-full", dotClass)} />
      {text}
    </span>
  );
}

/** Reports ignored URL values, since silently showing another list would mislead. */
export function IgnoredValues({ list }: { list: readonly string[] }) {
  const t = useTranslations("common");
  if (list.length === 0) return null;
  return (
    <p role="status" className="border-b border-line bg-wait-soft px-4 py-2 text-wait md:px-5">
      {t("ignored", { list: list.join(", ") })}
    </p>
  );
}

/** Reports the number of rows that could not be read. The other rows are shown. */
export function UnreadableRows({ count = 0 }: { count?: number }) {
  const t = useTranslations("common");
  if (count === 0) return null;
  return (
    <p role="status" className="border-b border-line bg-wait-soft px-4 py-1.5 text-wait md:px-5">
      {t("unreadableRows", { count })}
    </p>
  );
}

/** A link to the Run page that keeps the connection. */
export function RunLink({ tone }: Pick<ComponentProps<typeof ButtonLink>, "tone">) {
  const href = withQuery("/run", { connection: useConnectionParam() });
  const preventOfflineNavigation = useOfflineGuard();
  return (
    <ButtonLink href={href} tone={tone} onNavigate={(event) => preventOfflineNavigation(event, href)}>
      {useTranslations("frame")("run")}
    </ButtonLink>
  );
}
