import { useLocale } from "next-intl";
import { habitsOf } from "@/components/ui/time/use-clock";
import { useHydrated } from "@/components/ui/time/use-now";

/** "Sat, 22 Nov": the date is already in the reader's time zone. */
export function useDayName(): (day: string) => string {
  const locale = useLocale();
  // The server does not know the reader's date format.
  const format = new Intl.DateTimeFormat(useHydrated() ? habitsOf(locale) : locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
  return (day) => format.format(Date.parse(day));
}
