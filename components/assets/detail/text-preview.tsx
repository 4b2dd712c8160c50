"use client";

import { useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure-message";
import { Skeleton } from "@/components/ui/skeleton";
import { type Beginning, readBeginning } from "@/lib/browser/read-beginning";
import { type ApiFailure } from "@/lib/browser/read-failure";

/** A text file, of a long one the beginning. */
export function TextPreview({ src, name }: { src: string; name: string }) {
  const t = useTranslations("assets.details");
  const options = { revalidateOnFocus: false, revalidateIfStale: false, shouldRetryOnError: false };
  const { data, error, mutate } = useSWR<Beginning, ApiFailure>(src, readOrThrow, options);
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

async function readOrThrow(src: string): Promise<Beginning> {
  const read = await readBeginning(src);
  if (!read.ok) throw read.failure;
  return read.value;
}
