import { useLocale, useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { learnAbsence } from "@/components/frame/connection/use-capabilities";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Skeleton } from "@/components/ui/skeleton";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { formatBytes } from "@/lib/shared/format";
import { MOST_TEXT_BYTES, readText, type TextOfFile } from "./read-text";

type FileContentProps = {
  path: string;
  connection: string | undefined;
  /** As the list knows it: another one is read anew. */
  version: string;
  /** Other files were read from this service: what cannot be read is gone. */
  isRead: boolean;
  onGone: () => void;
};

/** Text as it is stored, to its last digit: nothing is parsed and written again. */
export function FileContent({ path, connection, version, isRead, onGone }: FileContentProps) {
  const t = useTranslations("files.content");
  const locale = useLocale();
  const read = async () => {
    const text = await readText(path, connection);
    if (text.ok) return text.value;
    if (!learnAbsence(text.failure, connection, "userdata.read") && text.failure.status === 404) onGone();
    throw text.failure;
  };
  const options = { shouldRetryOnError: false, revalidateOnFocus: false, keepPreviousData: true };
  const { data, error, mutate } = useSWR<TextOfFile, ApiFailure>(["files.text", connection, path, version], read, options);
  if (error?.status === 404) return <p className="text-ink-2">{t(isRead ? "gone" : "goneOrKept")}</p>;
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  if (!data) return <ContentSkeleton />;
  if (data.kind === "bytes") return <p className="text-ink-2">{t("bytes")}</p>;
  if (data.text === "") return <p className="text-ink-2">{t("empty")}</p>;
  return (
    <section aria-label={t("label")} className="flex min-h-0 flex-col gap-1.5">
      <div className="flex items-center justify-between">
        <h3 className="font-semibold">{t("label")}</h3>
        {data.isWhole ? <CopyButton text={data.text} label={t("copy")} /> : null}
      </div>
      <pre
        tabIndex={0}
        className="max-h-[60vh] overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-sm whitespace-pre-wrap break-words"
      >
        {data.text}
      </pre>
      {data.isWhole ? null : <p className="text-sm text-ink-3">{t("cut", { size: formatBytes(MOST_TEXT_BYTES, locale) })}</p>}
    </section>
  );
}

export function ContentSkeleton() {
  const t = useTranslations("files.content");
  return (
    <div role="status" aria-label={t("loading")}>
      <Skeleton className="h-48 w-full" />
    </div>
  );
}
