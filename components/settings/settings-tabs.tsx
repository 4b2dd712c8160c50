"use client";

import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useRunsAppsOnly } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { cn } from "@/components/ui/cn";
import { chipStyle } from "@/components/ui/controls/button";
import { Link, usePathname } from "@/components/ui/link";
import { isEmbedded } from "@/lib/browser/urls";
import { findEmbedPage } from "@/lib/contract/embed/embed-pages";

const settingsTabs = [
  { part: "connections", href: "/settings" },
  { part: "members", href: "/settings/members" },
  { part: "shares", href: "/settings/shares" },
  { part: "usage", href: "/settings/usage" },
  { part: "runners", href: "/settings/runners" },
  { part: "embedding", href: "/settings/embedding" },
  { part: "webhooks", href: "/settings/webhooks" },
  { part: "audit", href: "/settings/audit" },
  { part: "tokens", href: "/settings/tokens" },
  { part: "account", href: "/settings/account" },
] as const;

/** Scrolls the current tab to the middle, since the row is wider than narrow screens. */
function scrollToCurrent(row: HTMLElement | null): void {
  const current = row?.querySelector<HTMLElement>("[aria-current]");
  if (row && current) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}

type SettingsTab = (typeof settingsTabs)[number]["part"];

/** Tabs are links with their own URLs, so that Back, reload and middle clicks work. */
function SettingsTabs({ current }: { current: SettingsTab }) {
  const t = useTranslations("settings.tabs");
  const canOnlyRunApps = useRunsAppsOnly();
  const permittedTabs = canOnlyRunApps ? settingsTabs.filter(({ part }) => part === "tokens" || part === "account") : settingsTabs;
  const visibleTabs = isEmbedded() ? permittedTabs.filter(({ href }) => findEmbedPage(href) !== undefined) : permittedTabs;
  return (
    <nav
      ref={scrollToCurrent}
      aria-label={t("label")}
      className="flex min-h-[51px] shrink-0 items-center gap-2 overflow-x-auto border-b border-line bg-bg px-4 py-2 md:px-5"
    >
      {visibleTabs.map(({ part, href }) => (
        <Link key={part} href={href} aria-current={part === current ? "page" : undefined} className={chipStyle(part === current)}>
          {t(part)}
        </Link>
      ))}
    </nav>
  );
}

type SettingsPageProps = { current: SettingsTab; tools?: ReactNode; isWide?: boolean; children: ReactNode };

export function SettingsPage({ current, tools, isWide = false, children }: SettingsPageProps) {
  const t = useTranslations("settings");
  return (
    <>
      <PageHeader title={t("title")}>{tools}</PageHeader>
      <SettingsTabs current={current} />
      <div className={cn("flex w-full flex-col gap-3.5 p-4 md:px-5", isWide ? "max-w-[1080px] min-w-0" : "max-w-[860px]")}>{children}</div>
    </>
  );
}

/** The skeleton of every settings page, chosen by the URL. */
export function SettingsSkeleton() {
  const path = usePathname();
  const part = settingsTabs.find(({ href }) => href === path)?.part ?? "connections";
  return <PageSkeleton page="settings" tools={<SettingsTabs current={part} />} layout="card" />;
}
