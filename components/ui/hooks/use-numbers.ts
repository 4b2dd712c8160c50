import { useLocale } from "next-intl";

/** A count as the page's language writes it: 12,345. The same on the server and in the browser. */
export function useNumber(): (value: number) => string {
  const locale = useLocale();
  return (value) => value.toLocaleString(locale);
}
