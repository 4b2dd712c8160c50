import { usePathname as useWholePathname, useRouter as useNextRouter } from "next/navigation";
import { useMemo } from "react";
import { embedAddressOf, embedPath, inEmbedPath } from "@/lib/shared/console-paths";

/** Next's router for the console's addresses: an embedded page stays below its session's address. */
export function useRouter(): ReturnType<typeof useNextRouter> {
  const router = useNextRouter();
  return useMemo(
    () =>
      embedPath() === ""
        ? router
        : {
            ...router,
            push: (href, options) => router.push(inEmbedPath(href), options),
            replace: (href, options) => router.replace(inEmbedPath(href), options),
            prefetch: (href, options) => router.prefetch(inEmbedPath(href), options),
          },
    [router],
  );
}

/** The page's address within the console, also when embedded. */
export function usePathname(): string {
  const whole = useWholePathname();
  const found = embedAddressOf(whole ?? "");
  return found ? found.rest || "/" : whole;
}
