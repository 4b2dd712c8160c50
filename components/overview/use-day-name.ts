import { useLocale } from "next-intl";

/** "Sat, 22 Nov": the date is already one of the reader's zone. */
export function useDayName(): (day: string) => string {
  const format = new Intl.DateTimeFormat(useLocale(), { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
  return (day) => format.format(Date.parse(day));
}
