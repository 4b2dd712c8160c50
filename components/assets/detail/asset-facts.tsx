import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { Fact } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { shortId, toJobHref } from "@/lib/browser/urls";
import { type AssetDetail } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/text";
import { assetHref, assetLink } from "../asset-urls";
import { toRows } from "../filter/metadata-rows";
import { SameContent } from "./same-content";

/** Longer values are collapsed. */
const MAX_COLLAPSED_LENGTH = 240;

/** Metadata names and values. Nested values are named by their path, as in the filter and the editor. */
function MetadataTable({ label, values }: { label: string; values: Record<string, unknown> }) {
  return (
    <table aria-label={label} className="w-full table-fixed font-mono text-sm">
      <tbody>
        {toRows(values).map(({ path, value }) => (
          <tr key={path} className="border-t border-line align-top">
            <th scope="row" className="w-[34%] py-1 pr-3 text-left font-normal break-words text-ink-3">
              {path}
            </th>
            <td className="py-1 break-words whitespace-pre-wrap">
              <Value text={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ text }: { text: string }) {
  const t = useTranslations("assets.details");
  const [isOpen, setOpen] = useState(false);
  if (text.length <= MAX_COLLAPSED_LENGTH) return text;
  return (
    <>
      {isOpen ? text : `${text.slice(0, MAX_COLLAPSED_LENGTH)}…`}{" "}
      <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="font-sans">
        {t(isOpen ? "showLess" : "showAll")}
      </Button>
    </>
  );
}

type Row = [label: string, value: ReactNode];

/** The asset's fields, most important first. Missing fields have no row. */
export function AssetFacts({ asset, connectionId, connection }: { asset: AssetDetail; connectionId?: string; connection?: string }) {
  const t = useTranslations("assets.details");
  const locale = useLocale();
  const { id, hash, jobId, previewId, previewUrl, sizeBytes, createdAtMs, updatedAtMs, lastUsedAtMs } = asset;
  const time = (ms: number | undefined) => (ms === undefined ? null : <RelativeTime ms={ms} />);
  const rows: Row[] = [
    [
      t("madeBy"),
      jobId ? (
        <JobLink jobId={jobId} connection={connection} />
      ) : (
        <span className="text-ink-3">{t(isOutput(asset) ? "jobUnreported" : "notMade")}</span>
      ),
    ],
    [t("created"), time(createdAtMs)],
    [t("updated"), time(updatedAtMs)],
    [t("used"), time(lastUsedAtMs)],
    [t("sameContent"), hash && <SameContent key={id} asset={asset} connectionId={connectionId} connection={connection} />],
    [t("shared"), asset.immutable ? t("immutable") : null],
  ];
  const technical: Row[] = [
    [
      t("fileSize"),
      sizeBytes === undefined ? null : <span title={t("bytes", { count: sizeBytes })}>{formatBytes(sizeBytes, locale)}</span>,
    ],
    [t("type"), asset.mimeType],
    [t("hash"), hash && <Copyable text={hash} displayText={shortHash(hash)} />],
    [t("id"), <Copyable key="id" text={id} displayText={id} />],
    [t("link"), <CopyLink key="link" id={id} connection={connection ?? connectionId} />],
    [
      t("previewAsset"),
      previewId === undefined ? null : previewId === id ? (
        <span className="text-ink-3">{t("previewsItself")}</span>
      ) : (
        <Link href={assetHref(previewId, connection)} title={previewId} className={linkStyle}>
          {shortId(previewId)}
        </Link>
      ),
    ],
    [t("previewAddress"), previewUrl && <Copyable text={previewUrl} displayText={previewUrl} />],
    [t("newlyMade"), asset.createdNew === undefined ? null : t(asset.createdNew ? "newlyMadeYes" : "newlyMadeNo")],
    [t("shared"), asset.isMutableReported && !asset.immutable ? t("mutable") : null],
  ];
  return (
    <>
      <Rows rows={rows}>
        <Values label={t("metadata")} values={asset.metadata} none={t("noMetadata")} />
      </Rows>
      <details>
        <summary className="w-fit rounded-sm text-ink-3 hover:text-ink">{t("technical")}</summary>
        <Rows rows={technical} className="mt-1.5">
          {Object.keys(asset.others).length > 0 ? <Values label={t("others")} values={asset.others} none="" /> : null}
        </Rows>
      </details>
    </>
  );
}

function Rows({ rows, className, children }: { rows: readonly Row[]; className?: string; children: ReactNode }) {
  return (
    <dl className={cn("grid grid-cols-[96px_minmax(0,1fr)] gap-x-3 gap-y-1.5", className)}>
      {rows.map(([label, value]) =>
        value ? (
          <Fact key={label} name={label}>
            {value}
          </Fact>
        ) : null,
      )}
      {children}
    </dl>
  );
}

/** The table uses the full width, since it would be too narrow next to its name. */
function Values({ label, values, none }: { label: string; values: Record<string, unknown>; none: string }) {
  const isEmpty = Object.keys(values).length === 0;
  return (
    <>
      <dt className={isEmpty ? "text-ink-3" : "col-span-2 mt-1 text-ink-3"}>{label}</dt>
      <dd className={isEmpty ? "text-ink-3" : "col-span-2 min-w-0"}>{isEmpty ? none : <MetadataTable label={label} values={values} />}</dd>
    </>
  );
}

const linkStyle = "font-mono text-sm text-accent underline-offset-2 hover:underline";

function JobLink({ jobId, connection }: { jobId: string; connection?: string }) {
  return (
    <Link href={toJobHref(jobId, connection)} title={jobId} className={linkStyle}>
      {shortId(jobId)}
    </Link>
  );
}

function Copyable({ text, displayText }: { text: string; displayText: string }) {
  const common = useTranslations("common");
  return (
    <span className="flex items-center gap-1">
      <span title={text} className="min-w-0 truncate font-mono text-sm">
        {displayText}
      </span>
      <CopyButton text={text} label={common("copy", { id: text })} />
    </span>
  );
}

/** Copies the URL of the asset's page, including its connection. */
function CopyLink({ id, connection }: { id: string; connection: string | undefined }) {
  const t = useTranslations("assets.details");
  return (
    <span className="flex items-center gap-1">
      <span className="min-w-0 truncate font-mono text-sm">{assetHref(id)}</span>
      <CopyButton text={() => assetLink(id, connection)} label={t("copyLink")} />
    </span>
  );
}

/** Created by a job, even if the service doesn't name it. */
const isOutput = ({ tags }: AssetDetail) => tags.includes("output") || tags.includes("temp");

/** "blake3:4be1…90cd": the beginning and the end. */
function shortHash(hash: string): string {
  const colon = hash.indexOf(":") + 1;
  return hash.length - colon <= 12 ? hash : `${hash.slice(0, colon + 4)}…${hash.slice(-4)}`;
}
