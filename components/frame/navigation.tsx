"use client";

import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Link, usePathname, useRouter } from "@/components/ui/link";
import { useNumberFormat } from "@/components/ui/time/use-time-format";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { CONSOLE_UNREACHABLE } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { useConnection, useConnectionParam } from "./connection/connection-context";
import { useCounts } from "./counts-context";
import { destinationsOf, isWithin } from "./destinations";
import { useRunsAppsOnly } from "./member-context";

/** The sidebar's list, with counts if known. */
export function Navigation() {
  const t = useTranslations("frame");
  const pathname = usePathname();
  const connection = useConnectionParam();
  const destinations = destinationsOf(useConnection(), useRunsAppsOnly());
  const stay = useStayWhenAway();
  const { jobs, running, pending } = useCounts();
  const number = useNumberFormat();
  const counts: Partial<Record<string, number>> = {
    jobs,
    queue: running === undefined || pending === undefined ? undefined : running + pending,
  };
  return (
    <ul className="flex flex-col gap-0.5">
      {destinations.map(({ href, label }) => {
        const isHere = isWithin(pathname, href);
        const count = counts[label];
        return (
          <li key={href} className={label === "settings" ? "mt-2.5 border-t border-line pt-2.5" : undefined}>
            <Link
              href={withQuery(href, { connection })}
              onNavigate={(event) => stay(event, withQuery(href, { connection }))}
              aria-current={isHere ? "page" : undefined}
              className={cn(
                "flex items-center justify-between rounded-md px-2.5 py-1.5",
                isHere ? "bg-off-soft font-[550] text-ink" : "text-ink-2 hover:bg-off-soft hover:text-ink",
              )}
            >
              {t(label)}
              {count === undefined ? null : <span className={cn("text-sm", isHere ? "text-ink-2" : "text-ink-3")}>{number(count)}</span>}
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
  const destinations = destinationsOf(useConnection(), useRunsAppsOnly()).filter(({ isAbove }) => !isAbove);
  const stay = useStayWhenAway();
  return (
    <ul className="grid auto-cols-fr grid-flow-col">
      {destinations.map(({ href, label, short = label, icon: Icon }) => {
        const isHere = isWithin(pathname, href);
        return (
          <li key={href}>
            <Link
              href={withQuery(href, { connection })}
              onNavigate={(event) => stay(event, withQuery(href, { connection }))}
              aria-current={isHere ? "page" : undefined}
              className={cn(
                "flex min-h-12 flex-col items-center justify-center gap-0.5 text-xs max-[400px]:text-[10px]",
                isHere ? "font-semibold text-ink" : "text-ink-2",
              )}
            >
              <Icon aria-hidden="true" className="size-[18px]" strokeWidth={isHere ? 2.25 : 1.75} />
              {t(short)}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/**
 * For a link's `onNavigate`: while the console does not answer, the page stays, as following the link would end on the browser's own
 * error page and lose what was typed. It asks first, as the console may be back.
 */
function useStayWhenAway(): (event: { preventDefault: () => void }, href: string) => void {
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
