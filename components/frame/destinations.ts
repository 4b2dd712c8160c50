import { AppWindow, Folder, History, Images, Layers, LayoutDashboard, ListChecks, type LucideIcon, Play, Settings } from "lucide-react";
import { type useTranslations } from "next-intl";
import { hasFeature } from "@/lib/contract/connections";
import { type CurrentConnection } from "./connection/current-connection";

type Word = Parameters<ReturnType<typeof useTranslations<"frame">>>[0];
/**
 * `short`: the label in the bottom bar of narrow screens. `isAbove`: not in that bar; the member's picture links to it. `letter`: the key that
 * opens the page after `g`.
 */
type Destination = { href: `/${string}`; label: Word; short?: Word; letter?: string; icon: LucideIcon; isAbove?: true };

const destinations: readonly Destination[] = [
  { href: "/", label: "overview", icon: LayoutDashboard },
  { href: "/jobs", label: "jobs", letter: "j", icon: ListChecks },
  { href: "/queue", label: "queue", letter: "q", icon: Layers },
  { href: "/history", label: "history", letter: "h", icon: History },
  { href: "/assets", label: "assets", letter: "a", icon: Images },
  { href: "/files", label: "files", letter: "f", icon: Folder },
  { href: "/run", label: "run", letter: "r", short: "runShort", icon: Play },
  { href: "/apps", label: "apps", icon: AppWindow },
  { href: "/settings", label: "settings", letter: "s", icon: Settings, isAbove: true },
];

/** The pages that are unavailable on another member's connection, where only jobs are visible. */
const closedPages: readonly string[] = ["/assets", "/files", "/run", "/apps"];

export function isClosed(pathname: string): boolean {
  return closedPages.some((href) => isWithin(pathname, href));
}

/** `runsAppsOnly`: for members who only run apps. */
export function getDestinations(connection: CurrentConnection | undefined, runsAppsOnly = false): readonly Destination[] {
  if (runsAppsOnly) return destinations.filter(({ label }) => label === "apps");
  if (!hasFeature(connection, "fullAccess")) return destinations.filter(({ href }) => !closedPages.includes(href));
  return hasFeature(connection, "assets") ? destinations : destinations.filter(({ label }) => label !== "assets");
}

export function isWithin(pathname: string, href: string): boolean {
  return pathname === href || pathname.startsWith(`${href}/`);
}
