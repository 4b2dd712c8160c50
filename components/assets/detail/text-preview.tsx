"use client";

import { useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure-message";
import { Skeleton } from "@/components/ui/skeleton";
import { type ApiFailure, failureOfThrown, readFailure } from "@/lib/browser/read-failure";

const MOST_BYTES = 64 * 1024;
type Beginning = { text: string; isWhole: boolean };

async function readBeginning(src: string): Promise<Beginning> {
  let answer;
  try {
    answer = await fetch(src, { headers: { range: `bytes=0-${MOST_BYTES - 1}` } });
  } catch (cause) {
    throw failureOfThrown(cause);
  }
  const text = answer.status === 416 ? "" : await answer.text();
  if (!answer.ok && answer.status !== 416) throw readFailure(answer.status, answer.headers.get("retry-after"), text);
  return { text: text.slice(0, MOST_BYTES), isWhole: text.length < MOST_BYTES };
}

/** A text file, of a long one the beginning. */
export function TextPreview({ src, name }: { src: string; name: string }) {
  const t = useTranslations("assets.details");
  const options = { revalidateOnFocus: false, revalidateIfStale: false, shouldRetryOnError: false };
  const { data, error, mutate } = useSWR<Beginning, ApiFailure>(src, readBeginning, options);
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  if (!data) return <Skeleton className="h-40 w-full" />;
  return (
    <div>
      <pre
        tabIndex={0}
        aria-label={name}
        className="max-h-[62dvh] overflow-auto rounded-md border border-line bg-sunken p-2.5 font-mono text-sm break-words whitespace-pre-wrap"
      >
        {data.text}
      </pre>
      {data.isWhole ? null : <p className="mt-1 text-sm text-ink-3">{t("beginning")}</p>}
    </div>
  );
}
