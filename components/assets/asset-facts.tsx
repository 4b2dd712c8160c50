"use client";

import Link from "next/link";
import { useLocale, useTranslations } from "next-intl";
import { Fragment, type ReactNode } from "react";
import { CopyButton } from "@/components/ui/copy-button";
import { RelativeTime } from "@/components/ui/relative-time";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/asset-view";
import { formatBytes } from "@/lib/shared/format";

type AssetFactsProps = { asset: AssetView; connection?: string };

/** Every field of the interface that is known of this asset; what a service does not send has no row. */
export function AssetFacts({ asset, connection }: AssetFactsProps) {
  const t = useTranslations("assets.details");
  const locale = useLocale();
  const common = useTranslations("common");
  const copyable = (text: string, shown: string) => (
    <span className="flex items-center gap-1">
      <span title={text} className="min-w-0 truncate font-mono text-sm">
        {shown}
      </span>
      <CopyButton text={text} label={common("copy", { id: text })} />
    </span>
  );
  const rows: [string, ReactNode][] = [
    [
      t("madeBy"),
      asset.jobId ? <JobLink jobId={asset.jobId} connection={connection} /> : <span className="text-ink-3">{t("notMade")}</span>,
    ],
    [t("created"), asset.createdAtMs === undefined ? null : <RelativeTime ms={asset.createdAtMs} />],
    [
      t("updated"),
      asset.updatedAtMs === undefined || asset.updatedAtMs === asset.createdAtMs ? null : <RelativeTime ms={asset.updatedAtMs} />,
    ],
    [t("used"), asset.lastUsedAtMs === undefined ? null : <RelativeTime ms={asset.lastUsedAtMs} />],
    [
      t("fileSize"),
      asset.sizeBytes === undefined ? null : (
        <span title={t("bytes", { count: asset.sizeBytes })}>{formatBytes(asset.sizeBytes, locale)}</span>
      ),
    ],
    [t("type"), asset.mimeType],
    [t("hash"), asset.hash && copyable(asset.hash, shortHash(asset.hash))],
    [t("id"), copyable(asset.id, asset.id)],
    [t("shared"), asset.immutable ? t("immutable") : null],
  ];
  return (
    <dl className="grid grid-cols-[96px_minmax(0,1fr)] gap-x-3 gap-y-1.5">
      {rows.map(([label, value]) =>
        value ? (
          <Fragment key={label}>
            <dt className="text-ink-3">{label}</dt>
            <dd className="min-w-0">{value}</dd>
          </Fragment>
        ) : null,
      )}
      <dt className="text-ink-3">{t("metadata")}</dt>
      <dd className="min-w-0">
        <Metadata metadata={asset.metadata} />
      </dd>
    </dl>
  );
}

function JobLink({ jobId, connection }: { jobId: string; connection?: string }) {
  return (
    <Link
      href={withQuery(`/jobs/${encodeURIComponent(jobId)}`, { connection })}
      title={jobId}
      className="font-mono text-sm text-accent underline-offset-2 hover:underline"
    >
      {jobId.slice(0, 8)}
    </Link>
  );
}

function Metadata({ metadata }: { metadata: Record<string, unknown> }) {
  const t = useTranslations("assets.details");
  const entries = Object.entries(metadata);
  if (entries.length === 0) return <span className="text-ink-3">{t("noMetadata")}</span>;
  return (
    <table className="w-full table-fixed font-mono text-sm">
      <tbody>
        {entries.map(([name, value]) => (
          <tr key={name} className="align-top">
            <th scope="row" className="w-[38%] pr-2 pb-0.5 text-left font-normal break-words text-ink-3">
              {name}
            </th>
            <td className="pb-0.5 break-words">{typeof value === "string" ? value : JSON.stringify(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** "blake3:4be1…90cd": both ends, as people compare them. */
function shortHash(hash: string): string {
  const colon = hash.indexOf(":") + 1;
  return hash.length - colon <= 12 ? hash : `${hash.slice(0, colon + 4)}…${hash.slice(-4)}`;
}
