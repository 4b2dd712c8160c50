"use client";

import { AppWindow, Folder, History, Images, Layers, LayoutDashboard, ListChecks, type LucideIcon, Play, Settings } from "lucide-react";
import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Link, usePathname, useRouter } from "@/components/ui/link";
import { useNumberFormat } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { CONSOLE_UNREACHABLE } from "@/lib/browser/api-failure";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { useConnection, useConnectionParam } from "./connection/connection-context";
import { type CurrentConnection } from "./connection/current-connection";
import { useCounts } from "./counts-context";
import { useRunsAppsOnly } from "./member-context";

type MessageKey = Parameters<ReturnType<typeof useTranslations<"frame">>>[0];
/**
 * `short`: the label in the bottom bar of narrow screens. `isHiddenInBottomBar`: not in that bar, since the member's avatar links to it.
 * `shortcutKey`: the key that opens the page after `g`.
 */
type Destination = {
  href: `/${string}`;
  label: MessageKey;
  short?: MessageKey;
  shortcutKey?: string;
  icon: LucideIcon;
  isHiddenInBottomBar?: true;
};

const destinations: readonly Destination[] = [
  { href: "/", label: "overview", icon: LayoutDashboard },
  { href: "/jobs", label: "jobs", shortcutKey: "j", icon: ListChecks },
  { href: "/queue", label: "queue", shortcutKey: "q", icon: Layers },
  { href: "/history", label: "history", shortcutKey: "h", icon: History },
  { href: "/assets", label: "assets", shortcutKey: "a", icon: Images },
  { href: "/files", label: "files", shortcutKey: "f", icon: Folder },
  { href: "/run", label: "run", shortcutKey: "r", short: "runShort", icon: Play },
  { href: "/apps", label: "apps", icon: AppWindow },
  { href: "/settings", label: "settings", shortcutKey: "s", icon: Settings, isHiddenInBottomBar: true },
];

/** The pages that are unavailable on another member's connection, where only jobs are visible. */
const unavailablePages: readonly string[] = ["/assets", "/files", "/run", "/apps"];

export function isUnavailablePage(pathname: string): boolean {
  return unavailablePages.some((href) => isWithin(pathname, href));
}

/** `runsAppsOnly`: for members who only run apps. */
export function getDestinations(connection: CurrentConnection | undefined, runsAppsOnly = false): readonly Destination[] {
  if (runsAppsOnly) return destinations.filter(({ label }) => label === "apps");
  if (!hasFeature(connection, "fullAccess")) return destinations.filter(({ href }) => !unavailablePages.includes(href));
  return hasFeature(connection, "assets") ? destinations : destinations.filter(({ label }) => label !== "assets");
}

function isWithin(pathname: string, href: string): boolean {
  return pathname === href || pathname.startsWith(`${href}/`);
}

/** The sidebar's list, with counts if known. */
export function Navigation() {
  const t = useTranslations("frame");
  const pathname = usePathname();
  const connection = useConnectionParam();
  const destinations = getDestinations(useConnection(), useRunsAppsOnly());
  const preventOfflineNavigation = useOfflineGuard();
  const { jobs, running, pending } = useCounts();
  const formatNumber = useNumberFormat();
  const counts: Partial<Record<string, number>> = {
    jobs,
    queue: running === undefined || pending === undefined ? undefined : running + pending,
  };
  return (
    <ul className="flex flex-col gap-0.5">
      {destinations.map(({ href, label }) => {
        const isCurrent = isWithin(pathname, href);
        const count = counts[label];
        return (
          <li key={href} className={label === "settings" ? "mt-2.5 border-t border-line pt-2.5" : undefined}>
            <Link
              href={withQuery(href, { connection })}
              onNavigate={(event) => preventOfflineNavigation(event, withQuery(href, { connection }))}
              aria-current={isCurrent ? "page" : undefined}
              className={cn(
                "flex items-center justify-between rounded-md px-2.5 py-1.5",
                isCurrent ? "bg-off-soft font-[550] text-ink" : "text-ink-2 hover:bg-off-soft hover:text-ink",
              )}
            >
              {t(label)}
              {count === undefined ? null : (
                <span className={cn("text-sm", isCurrent ? "text-ink-2" : "text-ink-3")}>{formatNumber(count)}</span>
              )}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

export function BottomNavigation() {
  const t = useTranslations("frame");
  const pathname = usePathname();
  const connection = useConnectionParam();
  const destinations = getDestinations(useConnection(), useRunsAppsOnly()).filter(({ isHiddenInBottomBar }) => !isHiddenInBottomBar);
  const preventOfflineNavigation = useOfflineGuard();
  return (
    <ul className="grid auto-cols-fr grid-flow-col">
      {destinations.map(({ href, label, short = label, icon: Icon }) => {
        const isCurrent = isWithin(pathname, href);
        return (
          <li key={href}>
            <Link
              href={withQuery(href, { connection })}
              onNavigate={(event) => preventOfflineNavigation(event, withQuery(href, { connection }))}
              aria-current={isCurrent ? "page" : undefined}
              className={cn(
                "flex min-h-12 flex-col items-center justify-center gap-0.5 text-xs max-[400px]:text-[10px]",
                isCurrent ? "font-semibold text-ink" : "text-ink-2",
              )}
            >
              <Icon aria-hidden="true" className="size-[18px]" strokeWidth={isCurrent ? 2.25 : 1.75} />
              {t(short)}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/**
 * For a link's `onNavigate`. While the console is unreachable, following a link would show the browser's error page and lose unsaved input.
 * The page then navigates only if a health check succeeds.
 */
export function useOfflineGuard(): (event: { preventDefault: () => void }, href: string) => void {
  const t = useTranslations("frame");
  const { lastResponse } = useCounts();
  const router = useRouter();
  return (event, href) => {
    if (lastResponse !== CONSOLE_UNREACHABLE && navigator.onLine) return;
    event.preventDefault();
    void callApi("/api/health").then(({ ok }) => {
      if (ok) router.push(href);
      else showToast({ tone: "bad", text: t("away") });
    });
  };
}
