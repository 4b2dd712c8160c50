import { useSearchParams } from "next/navigation";
import { useCallback, useMemo } from "react";
import { type AssetsLook, lookValues, readLook } from "./assets-look";

/** The look that the address names. Another look is another address, and asks nothing of the server. */
export function useLook(): [AssetsLook, (change: Partial<AssetsLook>) => void] {
  const search = useSearchParams();
  const look = useMemo(() => readLook((name) => search?.get(name) ?? undefined).look, [search]);
  const change = useCallback(
    (part: Partial<AssetsLook>) => {
      const address = new URL(window.location.href);
      for (const [name, value] of Object.entries(lookValues({ ...look, ...part }))) {
        if (value === undefined) address.searchParams.delete(name);
        else address.searchParams.set(name, value);
      }
      window.history.replaceState(null, "", address.pathname + address.search);
    },
    [look],
  );
  return [look, change];
}
