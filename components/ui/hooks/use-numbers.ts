import { useLocale } from "next-intl";

/** Formats a count in the page's language: 12,345. The same on the server and in the browser. */
export function useNumber(): (value: number) => string {
  const locale = useLocale();
  return (value) => value.toLocaleString(locale);
}
