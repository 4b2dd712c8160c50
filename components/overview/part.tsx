import { useLocale, useTranslations } from "next-intl";
import { createContext, type ReactNode, use } from "react";
import { failureText } from "@/components/frame/failure/fault-owner";
import { Freshness } from "@/components/frame/list/tool-bar";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { ToneIcon } from "@/components/ui/status-badge";
import { ClampedClock } from "@/components/ui/time/relative-time";
import { useHydrated } from "@/components/ui/time/use-now";
import { regionalLocale } from "@/components/ui/time/use-time-format";
import { type LiveValue } from "@/lib/browser/live/use-live";

type PartProps<T> = {
  title: string;
  note?: ReactNode;
  /** The page with the complete list, if any. */
  all?: { href: `/${string}`; text: string };
  live: LiveValue<T>;
  skeleton: ReactNode;
  bodyClassName?: string;
  className?: string;
  children: (value: T) => ReactNode;
};

/** The failure code that the page itself shows. A part with the same failure only reports that it has no data. */
export const PageFailure = createContext<string | undefined>(undefined);

/** One part of the overview, which loads and fails independently, and keeps its last value. */
export function Part<T>({ title, note, all, live, skeleton, bodyClassName, className, children }: PartProps<T>) {
  const { value, failure } = live;
  return (
    <Card
      title={title}
      note={value === undefined ? undefined : note}
      className={className}
      bodyClassName={bodyClassName}
      actions={
        <>
          {value !== undefined && failure ? <Freshness atMs={live.atMs} isFailing /> : null}
          {all ? (
            <Link href={all.href} className="text-accent underline-offset-2 hover:underline">
              {all.text}
            </Link>
          ) : null}
        </>
      }
    >
      {value === undefined ? (
        failure ? (
          <PartFailure live={live} failure={failure} />
        ) : (
          skeleton
        )
      ) : (
        <ClampedClock value={failure && live.atMs}>{children(value)}</ClampedClock>
      )}
    </Card>
  );
}

function PartFailure<T>({ live, failure }: { live: LiveValue<T>; failure: NonNullable<LiveValue<T>["failure"]> }) {
  const t = useTranslations("overview");
  const pageFailureCode = use(PageFailure);
  const errors = useTranslations("errors");
  // The reason would be repeated in each part of the page.
  const text = failure.code === "UPSTREAM_UNREACHABLE" ? errors("UPSTREAM_UNREACHABLE.title") : failureText(errors, failure);
  if (failure.code === pageFailureCode) return <PartNote>{t("unread")}</PartNote>;
  return (
    <div role="alert" className="flex items-start gap-2.5 p-3.5">
      <span className="mt-0.5 text-bad">
        <ToneIcon tone="bad" />
      </span>
      <div className="flex min-w-0 flex-col items-start gap-2">
        <p>{text}</p>
        <Button size="small" busy={live.isAsking} onClick={() => void live.refresh()}>
          {t("retry")}
        </Button>
      </div>
    </div>
  );
}

export function PartNote({ children }: { children: ReactNode }) {
  return <p className="p-3.5 text-ink-3">{children}</p>;
}

export const pictureGrid = "grid grid-cols-3 gap-2.5 sm:grid-cols-4 lg:grid-cols-6";

export function RowsSkeleton({ rows }: { rows: number }) {
  return (
    <ul>
      {Array.from({ length: rows }, (_, index) => (
        <li key={index} className="flex min-h-[49px] items-center gap-3 border-b border-line px-3.5 last:border-b-0">
          <Skeleton className="h-3.5 w-2/5" />
          <Skeleton className="ml-auto h-3.5 w-16" />
        </li>
      ))}
    </ul>
  );
}

export function PicturesSkeleton() {
  return (
    <ul className={pictureGrid}>
      {Array.from({ length: 6 }, (_, index) => (
        <li key={index}>
          <Skeleton className="aspect-[4/3] w-full" />
        </li>
      ))}
    </ul>
  );
}

/** Formats a date, already in the user's time zone, as "Sat, 22 Nov". */
export function useDayName(): (day: string) => string {
  const locale = useLocale();
  // The server doesn't have the user's date format.
  const format = new Intl.DateTimeFormat(useHydrated() ? regionalLocale(locale) : locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
  return (day) => format.format(Date.parse(day));
}
