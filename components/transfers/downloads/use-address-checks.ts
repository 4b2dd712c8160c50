import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type Address } from "./address";
import { type SourceCheck, toCheck } from "./source-facts";

/** The person may still be typing. */
const PAUSE_MS = 400;
const AT_ONCE = 3;

type AddressChecks = { checks: ReadonlyMap<string, SourceCheck>; askAgain: (url: string) => void };

/** The service's report on each address before it is fetched: requested once per address, three at a time, while the dialog is open. */
export function useAddressChecks(addresses: readonly Address[], connection: string | undefined): AddressChecks {
  const [checks, setChecks] = useState<ReadonlyMap<string, SourceCheck>>(new Map());
  const [round, setRound] = useState(0);
  const asked = useRef(new Set<string>());
  const isAbsent = useRef(false);
  const wanted = useMemo(() => addresses.filter(({ fault }) => fault === undefined).map(({ url }) => url), [addresses]);
  const put = (url: string, check: SourceCheck) => setChecks((now) => new Map(now).set(url, check));

  const askAll = useEffectEvent((signal: AbortSignal) => {
    const waiting = wanted.filter((url) => !asked.current.has(url));
    const lane = async () => {
      for (let url = waiting.shift(); url !== undefined && !signal.aborted; url = waiting.shift()) {
        if (isAbsent.current) {
          put(url, { kind: "unsupported" });
          continue;
        }
        asked.current.add(url);
        put(url, { kind: "asking" });
        const answer = await callApi<unknown>(withQuery("/api/assets/remote-metadata", { url, connection }), {
          signal,
          cache: "no-store",
        });
        if (signal.aborted) {
          asked.current.delete(url);
          return;
        }
        const check = toCheck(answer);
        isAbsent.current ||= check.kind === "unsupported";
        put(url, check);
      }
    };
    for (let at = 0; at < AT_ONCE; at++) void lane();
  });
  useEffect(() => {
    const typing = new AbortController();
    const timer = setTimeout(() => askAll(typing.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      typing.abort();
    };
  }, [wanted, round]);
  const askAgain = useCallback((url: string) => {
    asked.current.delete(url);
    setChecks((now) => new Map(now).set(url, { kind: "asking" }));
    setRound((now) => now + 1);
  }, []);
  return { checks, askAgain };
}
