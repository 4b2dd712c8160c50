import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { Fact } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toJobHref, toShortId } from "@/lib/browser/urls";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetDetail, type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { formatBytes } from "@/lib/shared/text";
import { fetchAssets, getAssetHref, getAssetLink } from "../asset-api";
import { type AssetPage } from "../assets-urls";
import { toRows } from "../filter/metadata-rows";

/** Longer values are collapsed. */
const MAX_COLLAPSED_LENGTH = 240;

/** Lists metadata values by path, as in the filter and the editor. */
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
              <CollapsibleText text={value} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CollapsibleText({ text }: { text: string }) {
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
  const renderTime = (ms: number | undefined) => (ms === undefined ? null : <RelativeTime ms={ms} />);
  const rows: Row[] = [
    [
      t("madeBy"),
      jobId ? (
        <JobLink jobId={jobId} connection={connection} />
      ) : (
        <span className="text-ink-3">{t(isOutput(asset) ? "jobUnreported" : "notMade")}</span>
      ),
    ],
    [t("created"), renderTime(createdAtMs)],
    [t("updated"), renderTime(updatedAtMs)],
    [t("used"), renderTime(lastUsedAtMs)],
    [t("sameContent"), hash && <SameContent key={id} asset={asset} connectionId={connectionId} connection={connection} />],
    [t("shared"), asset.immutable ? t("immutable") : null],
  ];
  const technicalRows: Row[] = [
    [
      t("fileSize"),
      sizeBytes === undefined ? null : <span title={t("bytes", { count: sizeBytes })}>{formatBytes(sizeBytes, locale)}</span>,
    ],
    [t("type"), asset.mimeType],
    [t("hash"), hash && <Copyable text={hash} displayText={abbreviateHash(hash)} />],
    [t("id"), <Copyable key="id" text={id} displayText={id} />],
    [t("link"), <CopyLink key="link" id={id} connection={connection ?? connectionId} />],
    [
      t("previewAsset"),
      previewId === undefined ? null : previewId === id ? (
        <span className="text-ink-3">{t("previewsItself")}</span>
      ) : (
        <Link href={getAssetHref(previewId, connection)} title={previewId} className={linkStyle}>
          {toShortId(previewId)}
        </Link>
      ),
    ],
    [t("previewAddress"), previewUrl && <Copyable text={previewUrl} displayText={previewUrl} />],
    [t("newlyMade"), asset.createdNew === undefined ? null : t(asset.createdNew ? "newlyMadeYes" : "newlyMadeNo")],
    [t("shared"), asset.isMutabilityReported && !asset.immutable ? t("mutable") : null],
  ];
  return (
    <>
      <Rows rows={rows}>
        <MetadataSection label={t("metadata")} values={asset.metadata} emptyText={t("noMetadata")} />
      </Rows>
      <details>
        <summary className="w-fit rounded-sm text-ink-3 hover:text-ink">{t("technical")}</summary>
        <Rows rows={technicalRows} className="mt-1.5">
          {Object.keys(asset.others).length > 0 ? <MetadataSection label={t("others")} values={asset.others} emptyText="" /> : null}
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

/** The table uses the full width, since it would be too narrow next to its label. */
function MetadataSection({ label, values, emptyText }: { label: string; values: Record<string, unknown>; emptyText: string }) {
  const isEmpty = Object.keys(values).length === 0;
  return (
    <>
      <dt className={isEmpty ? "text-ink-3" : "col-span-2 mt-1 text-ink-3"}>{label}</dt>
      <dd className={isEmpty ? "text-ink-3" : "col-span-2 min-w-0"}>
        {isEmpty ? emptyText : <MetadataTable label={label} values={values} />}
      </dd>
    </>
  );
}

const linkStyle = "font-mono text-sm text-accent underline-offset-2 hover:underline";

function JobLink({ jobId, connection }: { jobId: string; connection?: string }) {
  return (
    <Link href={toJobHref(jobId, connection)} title={jobId} className={linkStyle}>
      {toShortId(jobId)}
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
      <span className="min-w-0 truncate font-mono text-sm">{getAssetHref(id)}</span>
      <CopyButton text={() => getAssetLink(id, connection)} label={t("copyLink")} />
    </span>
  );
}

/** True if a job created the asset, even if the service doesn't report the job. */
const isOutput = ({ tags }: AssetDetail) => tags.includes("output") || tags.includes("temp");

/** "blake3:4be1…90cd": the beginning and the end. */
function abbreviateHash(hash: string): string {
  const digestStart = hash.indexOf(":") + 1;
  return hash.length - digestStart <= 12 ? hash : `${hash.slice(0, digestStart + 4)}…${hash.slice(-4)}`;
}

type Lookup = "looking" | { result: SameContentResult } | { failure: ApiFailure };

const MAX_SHOWN_MATCHES = 10;

/** Searches on click only, since it needs several requests. */
function SameContent({ asset, connectionId, connection }: { asset: AssetView; connectionId?: string; connection?: string }) {
  const t = useTranslations("assets.same");
  const errors = useTranslations("errors");
  const [lookup, setLookup] = useState<Lookup>();
  async function search() {
    setLookup("looking");
    const result = await findSameContent(asset, (range) => fetchAssets({ query: sortedBySizeQuery, connectionId }, range));
    setLookup(result.ok ? { result: result.value } : { failure: result.failure });
  }
  if (lookup === undefined || lookup === "looking") {
    return (
      <Button size="small" busy={lookup === "looking"} onClick={() => void search()}>
        {t(lookup === "looking" ? "looking" : "look")}
      </Button>
    );
  }
  if ("failure" in lookup) {
    return (
      <span role="alert" className="text-bad">
        {formatFailure(errors, lookup.failure)}{" "}
        <Button size="small" onClick={() => void search()}>
          {t("again")}
        </Button>
      </span>
    );
  }
  const { result } = lookup;
  if (result.kind === "cannot") return <span role="status">{t("cannot")}</span>;
  return (
    <span role="status">
      {t(result.kind, { count: result.assets.length })}
      {result.assets.length > 0 ? (
        <ul className="mt-1 flex flex-col gap-0.5">
          {result.assets.slice(0, MAX_SHOWN_MATCHES).map(({ id, name }) => (
            <li key={id} className="min-w-0 truncate">
              <Link
                href={getAssetHref(id, connection)}
                prefetch={false}
                title={id}
                className="text-accent underline-offset-2 hover:underline"
              >
                <FileName name={name} />
              </Link>
            </li>
          ))}
          {result.assets.length > MAX_SHOWN_MATCHES ? (
            <li className="text-ink-3">{t("more", { count: result.assets.length - MAX_SHOWN_MATCHES })}</li>
          ) : null}
        </ul>
      ) : null}
    </span>
  );
}

// Finds assets with the same bytes by a binary search in the list sorted by size, since the API has no search by hash. A million assets take
// about twenty small requests.

type SameContentResult = { kind: "all" | "atLeast"; assets: AssetView[] } | { kind: "cannot" };
export type ReadSorted = (range: { offset: number; limit: number }) => Promise<Result<AssetPage, ApiFailure>>;

/** Maximum assets of the same size to compare. */
const MAX_COMPARED = 2_000;
const PAGE_SIZE = 500;

const sortedBySizeQuery = {
  sort: "size",
  order: "asc",
  include_public: true,
  limit: PAGE_SIZE,
  offset: 0,
} as const satisfies AssetsQuery;

export async function findSameContent(asset: AssetView, read: ReadSorted): Promise<Result<SameContentResult, ApiFailure>> {
  const { sizeBytes, hash } = asset;
  if (sizeBytes === undefined || hash === undefined) return ok({ kind: "cannot" });
  const firstPage = await read({ offset: 0, limit: 1 });
  if (!firstPage.ok) return firstPage;
  const { total } = firstPage.value;
  if (total === undefined) return ok({ kind: "cannot" });
  let [low, high] = [0, total];
  while (low < high && high - low > PAGE_SIZE / 2) {
    const middle = Math.floor((low + high) / 2);
    const page = await read({ offset: middle, limit: 1 });
    if (!page.ok) return failed(page.failure);
    const size = page.value.assets[0]?.sizeBytes;
    if (size === undefined) return ok({ kind: "cannot" });
    if (size < sizeBytes) low = middle + 1;
    else high = middle;
  }
  return findMatches(asset, read, low, total);
}

async function findMatches(
  asset: AssetView,
  read: ReadSorted,
  startOffset: number,
  total: number,
): Promise<Result<SameContentResult, ApiFailure>> {
  const assetsById = new Map<string, AssetView>();
  let comparedCount = 0;
  for (let offset = startOffset; offset < total; offset += PAGE_SIZE) {
    const page = await read({ offset, limit: PAGE_SIZE });
    if (!page.ok) return failed(page.failure);
    const sameSizeAssets = page.value.assets.filter(({ sizeBytes }) => sizeBytes === asset.sizeBytes);
    for (const candidate of sameSizeAssets)
      if (candidate.hash === asset.hash && candidate.id !== asset.id) assetsById.set(candidate.id, candidate);
    comparedCount += sameSizeAssets.length;
    const isPastSize =
      page.value.assets.length === 0 || page.value.assets.some(({ sizeBytes }) => (sizeBytes ?? 0) > (asset.sizeBytes ?? 0));
    if (isPastSize) break;
    if (comparedCount >= MAX_COMPARED) return ok({ kind: "atLeast", assets: [...assetsById.values()] });
  }
  return ok({ kind: "all", assets: [...assetsById.values()] });
}
