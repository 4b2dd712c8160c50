import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { failureText } from "@/components/frame/failure/failure-text";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { showToast } from "@/components/ui/toast-store";
import { saveFrom } from "@/lib/browser/files/save-file";
import { failureOfThrown, readFailure } from "@/lib/browser/read-failure";
import { lacksOperation } from "@/lib/contract/failure";

/**
 * Whether files can be had of this service at all. Where it has the core of the interface alone, that is asked of one file, once in a tab:
 * everywhere else it is known to be so.
 */
export function useHandsOutFiles(connectionId: string | undefined, file: string | undefined): boolean {
  const isCore = useCapabilities(connectionId, ["tags.list"]).has("tags.list") === false;
  const { data } = useSWRImmutable(isCore && file !== undefined ? ["assets.file", connectionId] : null, async () =>
    file === undefined ? undefined : await firstByteFailure(file),
  );
  return data === undefined || (data.status !== 404 && !lacksOperation(data));
}

/** Saves a file whose first byte was given: a service that refuses it is heard here, and not in place of the page. */
export function useFileDownload(): (url: string, name: string) => Promise<void> {
  const errors = useTranslations("errors");
  const [isAsking, setAsking] = useState(false);
  return async (url, name) => {
    if (isAsking) return;
    setAsking(true);
    const failure = await firstByteFailure(url);
    setAsking(false);
    if (failure) return showToast({ tone: "bad", text: failureText(errors, failure) });
    saveFrom(url, name);
  };
}

async function firstByteFailure(url: string) {
  const stop = new AbortController();
  try {
    const answer = await fetch(url, { headers: { range: "bytes=0-0" }, signal: stop.signal });
    // A file of no bytes has no first one.
    if (answer.ok || answer.status === 416) return undefined;
    return readFailure(answer.status, answer.headers.get("retry-after"), await answer.text());
  } catch (cause) {
    return failureOfThrown(cause);
  } finally {
    stop.abort();
  }
}
