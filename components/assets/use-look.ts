import { useSearchParams } from "next/navigation";
import { useCallback, useMemo } from "react";
import { addressValues, readAddress } from "@/lib/contract/params";
import { type AssetsLook, lookParams } from "./assets-look";

/** The look named by the address. Changing it changes only the address, without a request to the server. */
export function useLook(): [AssetsLook, (change: Partial<AssetsLook>) => void] {
  const search = useSearchParams();
  const look = useMemo(() => readAddress(lookParams, new URLSearchParams(search ?? "")).query, [search]);
  const change = useCallback(
    (part: Partial<AssetsLook>) => {
      const address = new URL(window.location.href);
      for (const [name, value] of Object.entries(addressValues(lookParams, { ...look, ...part }))) {
        if (value === undefined) address.searchParams.delete(name);
        else address.searchParams.set(name, String(value));
      }
      window.history.replaceState(null, "", address.pathname + address.search);
    },
    [look],
  );
  return [look, change];
}
