import { Folder, History, Images, Layers, LayoutDashboard, ListChecks, Play, type LucideIcon, Settings } from "lucide-react";

type Destination = {
  href: `/${string}`;
  label: "overview" | "jobs" | "queue" | "history" | "assets" | "files" | "run" | "settings";
  short: "overviewShort" | "jobs" | "queue" | "history" | "assets" | "files" | "runShort" | "settings";
  icon: LucideIcon;
};

/** The pages that exist, in the order in which people need them. */
const destinations: readonly Destination[] = [
  { href: "/", label: "overview", short: "overviewShort", icon: LayoutDashboard },
  { href: "/jobs", label: "jobs", short: "jobs", icon: ListChecks },
  { href: "/queue", label: "queue", short: "queue", icon: Layers },
  { href: "/history", label: "history", short: "history", icon: History },
  { href: "/assets", label: "assets", short: "assets", icon: Images },
  { href: "/files", label: "files", short: "files", icon: Folder },
  { href: "/run", label: "run", short: "runShort", icon: Play },
  { href: "/settings", label: "settings", short: "settings", icon: Settings },
];

export function destinationsOf(connection: { hasNoAssets?: boolean } | undefined): readonly Destination[] {
  return connection?.hasNoAssets ? destinations.filter(({ label }) => label !== "assets") : destinations;
}

export function isWithin(pathname: string, href: string): boolean {
  return pathname === href || pathname.startsWith(`${href}/`);
}
