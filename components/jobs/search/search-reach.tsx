import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { useClock } from "@/components/ui/time/use-clock";
import { type JobReach } from "@/lib/contract/console";

/** How far back the search reached, and whether the service answers: a job that was not found may still exist there. */
export function SearchReach({ reach }: { reach: JobReach | undefined }) {
  const t = useTranslations("jobSearch.reach");
  const clock = useClock();
  if (!reach) return null;
  const { extent, sinceMs, unread, asOfMs } = reach;
  const date = sinceMs === undefined ? undefined : (clock(sinceMs, "day") ?? "…");
  const undated = extent === "newest" ? t("undated") : t("starting");
  const covered = extent === "all" ? [] : [date === undefined ? undated : t(extent, { date })];
  const isOut = asOfMs !== undefined;
  const outage = () => (asOfMs ? t("outage", { date: clock(asOfMs, "until") ?? "…" }) : t("outageUnknown"));
  const notes = [...(isOut ? [outage()] : []), ...covered, ...(unread > 0 ? [t("unread", { count: unread })] : [])];
  if (notes.length === 0) return null;
  return (
    <p role="status" className={cn("border-b border-line px-4 py-1.5 text-sm md:px-5", isOut ? "bg-wait-soft text-wait" : "text-ink-3")}>
      {notes.join(" ")}
    </p>
  );
}

/** For a list that ends before the service's jobs do. */
export function ListCut() {
  const t = useTranslations("jobSearch.reach");
  return <p className="border-b border-line px-4 py-1.5 text-sm text-ink-3 md:px-5">{t("listCut")}</p>;
}
