"use client";

import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { ConnectionLink } from "@/components/frame/connection/connection-card";
import { useRunsAppsOnly } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { cn } from "@/components/ui/cn";
import { chipStyle } from "@/components/ui/controls/button";
import { usePathname } from "@/components/ui/link";
import { isEmbedded } from "@/lib/browser/urls";
import { findEmbedPage } from "@/lib/contract/embed/embed-pages";

const settingsTabs = [
  { id: "connections", href: "/settings" },
  { id: "members", href: "/settings/members" },
  { id: "shares", href: "/settings/shares" },
  { id: "usage", href: "/settings/usage" },
  { id: "runners", href: "/settings/runners" },
  { id: "embedding", href: "/settings/embedding" },
  { id: "webhooks", href: "/settings/webhooks" },
  { id: "audit", href: "/settings/audit" },
  { id: "tokens", href: "/settings/tokens" },
  { id: "account", href: "/settings/account" },
] as const;

/** Scrolls the current tab to the middle, since the row is wider than narrow screens. */
function scrollToCurrent(row: HTMLElement | null): void {
  const currentTab = row?.querySelector<HTMLElement>("[aria-current]");
  if (row && currentTab) row.scrollLeft = currentTab.offsetLeft - row.offsetLeft - (row.clientWidth - currentTab.offsetWidth) / 2;
}

type SettingsTab = (typeof settingsTabs)[number]["id"];

/** Tabs are links with their own URLs, so that Back, reload and middle clicks work. */
function SettingsTabs({ current }: { current: SettingsTab }) {
  const t = useTranslations("settings.tabs");
  const canOnlyRunApps = useRunsAppsOnly();
  const permittedTabs = canOnlyRunApps ? settingsTabs.filter(({ id }) => id === "tokens" || id === "account") : settingsTabs;
  const visibleTabs = isEmbedded() ? permittedTabs.filter(({ href }) => findEmbedPage(href) !== undefined) : permittedTabs;
  return (
    <nav
      ref={scrollToCurrent}
      aria-label={t("label")}
      className="flex min-h-[51px] shrink-0 items-center gap-2 overflow-x-auto border-b border-line bg-bg px-4 py-2 md:px-5"
    >
      {visibleTabs.map(({ id, href }) => (
        <ConnectionLink key={id} href={href} aria-current={id === current ? "page" : undefined} className={chipStyle(id === current)}>
          {t(id)}
        </ConnectionLink>
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
  const id = settingsTabs.find(({ href }) => href === path)?.id ?? "connections";
  return <PageSkeleton page="settings" tools={<SettingsTabs current={id} />} layout="card" />;
}
