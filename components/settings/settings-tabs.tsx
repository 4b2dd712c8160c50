"use client";

import { useTranslations } from "next-intl";
import { useRunsAppsOnly } from "@/components/frame/member-context";
import { PageSkeleton } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { chipStyle } from "@/components/ui/controls/button";
import { Link, usePathname } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { isEmbedded } from "@/lib/browser/urls";
import { embedPageOf } from "@/lib/contract/embed/embed-pages";

const parts = [
  { part: "connections", href: "/settings" },
  { part: "members", href: "/settings/members" },
  { part: "shares", href: "/settings/shares" },
  { part: "usage", href: "/settings/usage" },
  { part: "runners", href: "/settings/runners" },
  { part: "embedding", href: "/settings/embedding" },
  { part: "audit", href: "/settings/audit" },
  { part: "tokens", href: "/settings/tokens" },
  { part: "account", href: "/settings/account" },
] as const;

/** On a narrow screen the row is wider than the page: scrolls the current tab to the middle. */
function showCurrent(row: HTMLElement | null): void {
  const current = row?.querySelector<HTMLElement>("[aria-current]");
  if (row && current) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}

type SettingsPart = (typeof parts)[number]["part"];

/** Each part has its own address, so that Back, reload and a middle click work as everywhere. */
export function SettingsTabs({ current }: { current: SettingsPart }) {
  const t = useTranslations("settings.tabs");
  const runsAppsOnly = useRunsAppsOnly();
  const open = runsAppsOnly ? parts.filter(({ part }) => part === "tokens" || part === "account") : parts;
  const shown = isEmbedded() ? open.filter(({ href }) => embedPageOf(href) !== undefined) : open;
  return (
    <nav
      ref={showCurrent}
      aria-label={t("label")}
      className="flex min-h-[51px] shrink-0 items-center gap-2 overflow-x-auto border-b border-line bg-bg px-4 py-2 md:px-5"
    >
      {shown.map(({ part, href }) => (
        <Link key={part} href={href} aria-current={part === current ? "page" : undefined} className={chipStyle(part === current)}>
          {t(part)}
        </Link>
      ))}
    </nav>
  );
}

/** One for every part: it finds the part by the page's address. */
export function SettingsSkeleton() {
  const t = useTranslations("settings");
  const path = usePathname();
  const part = parts.find(({ href }) => href === path)?.part ?? "connections";
  return (
    <PageSkeleton
      title={t("title")}
      label={t("loading")}
      tools={<SettingsTabs current={part} />}
      className="w-full max-w-[860px] p-4 md:px-5"
    >
      <Card title={t(`tabs.${part}`)} bodyClassName="flex flex-col gap-2">
        <Skeleton className="h-5 w-48" />
        <Skeleton className="h-4 w-72" />
        <Skeleton className="h-4 w-40" />
      </Card>
    </PageSkeleton>
  );
}
