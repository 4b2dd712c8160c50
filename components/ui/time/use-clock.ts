import { useLocale } from "next-intl";
import { chosenZone } from "./time-zone";
import { useHydrated } from "./use-now";

const looks = {
  exact: { dateStyle: "medium", timeStyle: "long" },
  minute: { timeStyle: "short" },
  second: { timeStyle: "medium" },
  day: { dateStyle: "medium" },
  until: { dateStyle: "medium", timeStyle: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Creating a format takes longer than using it a hundred times, and a list has one per row. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** "en" does not say how its reader writes 14:02; the browser's own variant of English does, if it has one. */
export function habitsOf(language: string): string {
  const base = (tag: string) => tag.split("-")[0]?.toLowerCase();
  return navigator.languages.find((tag) => base(tag) === base(language)) ?? language;
}

function formatOf(locale: string, look: keyof typeof looks): Intl.DateTimeFormat {
  const timeZone = chosenZone();
  const key = `${locale} ${look} ${timeZone ?? ""}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(habitsOf(locale), { ...looks[look], timeZone });
  formats.set(key, known);
  return known;
}

export function clockText(locale: string, ms: number, look: keyof typeof looks): string {
  return formatOf(locale, look).format(ms);
}

/**
 * Formats every time in the product: in the reader's time zone or the one they chose, in the page's language and by the reader's habits.
 * Only the browser knows the zone: undefined on the server and in the first render, so that both agree.
 */
export function useClock(): (ms: number, look: keyof typeof looks) => string | undefined {
  const locale = useLocale();
  const isHydrated = useHydrated();
  return (ms, look) => (isHydrated ? clockText(locale, ms, look) : undefined);
}
