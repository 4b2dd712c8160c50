import { X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import useSWR from "swr";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { type useCapabilities } from "@/components/frame/connection/use-capabilities";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button, buttonStyle, IconButton } from "@/components/ui/controls/button";
import { CopyableId, CopyButton } from "@/components/ui/controls/copy-button";
import { useEscape } from "@/components/ui/hooks/page-events";
import { ButtonLink } from "@/components/ui/link";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { RelativeTime } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { notifyResponse } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { readBytes } from "@/lib/browser/files/byte-source";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { canContainWorkflow } from "@/lib/contract/views/outputs-view";
import { ok, type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";
import { MoveFile } from "./file-dialogs";
import { type FileRow, getFileApiPath } from "./files-view";

type FilePanelProps = {
  path: string;
  /** Absent if the file is not on this page of the list. */
  row: FileRow | undefined;
  connection: string | undefined;
  canChange: boolean;
  capabilities: ReturnType<typeof useCapabilities>;
  onClose: () => void;
  onRemove: () => void;
  onMoved: (newPath: string) => void;
};

export function FilePanel({ path, row, connection, canChange, capabilities, onClose, onRemove, onMoved }: FilePanelProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("files.panel");
  const locale = useLocale();
  const name = path.slice(path.lastIndexOf("/") + 1);
  const panel = useRef<HTMLElement>(null);
  useEscape("panel", onClose);
  useEffect(() => {
    if (window.matchMedia?.("(max-width: 1023px)").matches) panel.current?.focus({ preventScroll: true });
  }, [path]);
  const [missingPath, setMissingPath] = useState<string>();
  const canRead = capabilities.has("userdata.read") !== false;
  // Ignores an earlier 404 once the list includes the file.
  const hasActions = canRead && (row !== undefined || missingPath !== path);
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label={t("label", { name })}
      className="fixed inset-0 z-40 flex flex-col gap-3 overflow-y-auto bg-surface p-4 focus:outline-none lg:sticky lg:inset-auto lg:top-[calc(52px+var(--tool-bar))] lg:z-10 lg:h-[calc(100*var(--dvh)-52px-var(--tool-bar))] lg:w-[400px] lg:shrink-0 lg:border-l lg:border-line"
    >
      <div className="flex items-start gap-2">
        <h2 className="min-w-0 flex-1 text-lg font-semibold break-words">
          <FileName name={name} />
        </h2>
        <IconButton icon={X} label={t("close")} tone="quiet" onClick={onClose} />
      </div>
      <div className="flex flex-col gap-1 text-ink-2">
        <CopyableId id={path} />
        {row ? (
          <p>
            {row.bytes === undefined ? null : formatBytes(row.bytes, locale)}
            {row.bytes === undefined || row.modifiedMs === undefined ? null : " · "}
            {row.modifiedMs === undefined ? null : <RelativeTime ms={row.modifiedMs} />}
          </p>
        ) : null}
      </div>
      {hasActions ? (
        <div className="flex flex-wrap gap-2">
          {canChange && canContainWorkflow(name) ? (
            <ButtonLink href={withQuery("/run", { file: path, connection: connectionParam })} tone="primary">
              {t("run")}
            </ButtonLink>
          ) : null}
          <a href={apiPath(getFileApiPath(path, { connection }))} download={name} className={buttonStyle()}>
            {t("download")}
          </a>
          {canChange && capabilities.has("userdata.move") ? (
            <MoveFile key={path} path={path} connection={connection} onMoved={onMoved} />
          ) : null}
          {canChange && capabilities.has("userdata.delete") ? (
            <Button tone="danger" onClick={onRemove}>
              {t("remove")}
            </Button>
          ) : null}
        </div>
      ) : null}
      {capabilities.isRefused("userdata.move") ? <p className="text-ink-2">{t("noMove")}</p> : null}
      {canRead ? (
        <Content
          key={path}
          path={path}
          row={row}
          connection={connection}
          capabilities={capabilities}
          onMissing={() => setMissingPath(path)}
        />
      ) : null}
      {canRead ? null : <p className="text-ink-2">{t("noRead")}</p>}
    </aside>
  );
}

type ContentProps = Pick<FilePanelProps, "path" | "row" | "connection" | "capabilities"> & { onMissing: () => void };

/** Skips requests that would fail or return nothing, since the browser logs them as errors. */
function Content({ path, row, connection, capabilities, onMissing }: ContentProps) {
  const t = useTranslations("files.content");
  if (row?.bytes === 0) return <p className="text-ink-2">{t("empty")}</p>;
  if (capabilities.isLoading) return <LoadingBlocks label={t("loading")} blocks={["h-48 w-full"]} />;
  const canRead = capabilities.has("userdata.read") === true;
  // If the file is changed or removed elsewhere, its size or time in the list changes.
  const version = row ? `${row.bytes} ${row.modifiedMs}` : "";
  return <FileContent path={path} connection={connection} version={version} canRead={canRead} onMissing={onMissing} />;
}

type FileContentProps = {
  path: string;
  connection: string | undefined;
  /** When this changes, the content is read again. */
  version: string;
  /** Whether the service supports reading files. If so, a 404 means that the file is missing. */
  canRead: boolean;
  onMissing: () => void;
};

/** Shows text exactly as stored. */
function FileContent({ path, connection, version, canRead, onMissing }: FileContentProps) {
  const t = useTranslations("files.content");
  const locale = useLocale();
  const fetchText = async () => {
    const result = await readText(path, connection);
    if (result.ok) return result.value;
    if (result.failure.status === 404 && !isMissingOperation(result.failure)) onMissing();
    throw result.failure;
  };
  const options = { shouldRetryOnError: false, revalidateOnFocus: false, keepPreviousData: true };
  const { data, error, mutate } = useSWR<FileText, ApiFailure>(["files.text", connection, path, version], fetchText, options);
  if (error?.status === 404) return <p className="text-ink-2">{t(canRead ? "gone" : "goneOrKept")}</p>;
  if (error) return <FailureMessage failure={error} onRetry={() => void mutate()} />;
  if (!data) return <LoadingBlocks label={t("loading")} blocks={["h-48 w-full"]} />;
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
      {data.isWhole ? null : <p className="text-sm text-ink-3">{t("cut", { size: formatBytes(MAX_TEXT_BYTES, locale) })}</p>}
    </section>
  );
}

// Reads up to 256 kB of a stored text file. Never throws.

export const MAX_TEXT_BYTES = 256 * 1024;

type FileText = { kind: "text"; text: string; isWhole: boolean } | { kind: "bytes" };

export async function readText(path: string, connection: string | undefined): Promise<Result<FileText, ApiFailure>> {
  const requestPath = getFileApiPath(path, { connection });
  const firstBytesResult = await readBytes(apiPath(requestPath), MAX_TEXT_BYTES);
  if (firstBytesResult.ok) return ok(toText(firstBytesResult.value.bytes, firstBytesResult.value.isComplete));
  notifyResponse({ path: requestPath, method: "GET", status: firstBytesResult.failure.status, failure: firstBytesResult.failure });
  return firstBytesResult;
}

/** Text must be valid UTF-8 without NUL. A character that is truncated at the limit is allowed. */
export function toText(bytes: Uint8Array, isWhole: boolean): FileText {
  if (bytes.includes(0)) return { kind: "bytes" };
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole }), isWhole };
  } catch {
    return { kind: "bytes" };
  }
}
