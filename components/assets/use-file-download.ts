import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { failureText } from "@/components/frame/failure/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { saveFrom } from "@/lib/browser/files/save-file";
import { readFailure } from "@/lib/browser/read-answer";
import { failureOfThrown } from "@/lib/browser/read-failure";
import { isNotThere } from "@/lib/contract/failure";

/**
 * Whether this service hands out files. A service with only the core interface is asked for one file, once per tab;
 * all others are known to hand out files.
 */
export function useHandsOutFiles(connectionId: string | undefined, file: string | undefined): boolean {
  const isCore = useCapabilities(connectionId, ["tags.list"]).has("tags.list") === false;
  const { data } = useSWRImmutable(isCore && file !== undefined ? ["assets.file", connectionId] : null, async () =>
    file === undefined ? undefined : await firstByteFailure(file),
  );
  return data === undefined || !isNotThere(data);
}

/** Saves a file after its first byte was received: a refusal is reported here, and does not replace the page. */
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
    // An empty file has no first byte (416).
    if (answer.ok || answer.status === 416) return undefined;
    return readFailure(answer.status, answer.headers.get("retry-after"), await answer.text());
  } catch (cause) {
    return failureOfThrown(cause);
  } finally {
    stop.abort();
  }
}
