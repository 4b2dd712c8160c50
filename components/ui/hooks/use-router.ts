import { usePathname as useWholePathname, useRouter as useNextRouter } from "next/navigation";
import { useMemo } from "react";
import { inPlace, place, placeOf } from "@/lib/shared/place";

/** Next's router for the console's addresses: an embedded page stays below its session's address. */
export function useRouter(): ReturnType<typeof useNextRouter> {
  const router = useNextRouter();
  return useMemo(
    () =>
      place() === ""
        ? router
        : {
            ...router,
            push: (href, options) => router.push(inPlace(href), options),
            replace: (href, options) => router.replace(inPlace(href), options),
            prefetch: (href, options) => router.prefetch(inPlace(href), options),
          },
    [router],
  );
}

/** The page's address within the console, also when embedded. */
export function usePathname(): string {
  const whole = useWholePathname();
  const found = placeOf(whole ?? "");
  return found ? found.rest || "/" : whole;
}
