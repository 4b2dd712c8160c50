"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import useSWR from "swr";
import { failureText } from "@/components/frame/failure-text";
import { Picture } from "@/components/ui/picture";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { thumbnailUrl, withQuery } from "@/lib/browser/urls";
import { textOf } from "@/lib/contract/json";
import { mediaKindOf } from "@/lib/contract/media-kind";
import { listOutputs } from "@/lib/contract/outputs-view";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { assetHref } from "../asset-urls";
import { KindIcon } from "../kind-icon";
import { isAbsent } from "../use-tags";

type Sibling = { key: string; name: string; kind: ReturnType<typeof mediaKindOf>; assetId?: string; picture?: string };
type JobSiblingsProps = { jobId: string; assetId: string; connectionId?: string; connection?: string };

const MOST = 60;

/** What else the job put out. Services that list a job's assets name them; of others the job's own outputs are shown. */
export function JobSiblings({ jobId, assetId, connectionId, connection }: JobSiblingsProps) {
  const t = useTranslations("assets.siblings");
  const errors = useTranslations("errors");
  const { data, error } = useSWR<Sibling[], ApiFailure>(
    connectionId === undefined ? null : ["siblings", jobId, connectionId],
    () => readSiblings(jobId, connectionId),
    { revalidateOnFocus: false, revalidateIfStale: false, shouldRetryOnError: false },
  );
  if (error) return <p className="text-ink-3">{isAbsent(error) ? t("gone") : failureText(errors, error)}</p>;
  const others = data?.filter((sibling) => sibling.assetId !== assetId);
  if (!others) return null;
  if (others.length === 0) return <p className="text-ink-3">{t("none")}</p>;
  return (
    <ul aria-label={t("label")} className="grid grid-cols-[repeat(auto-fill,minmax(72px,1fr))] gap-2">
      {others.slice(0, MOST).map((sibling) => (
        <li key={sibling.key} className="min-w-0">
          <Link
            href={
              sibling.assetId ? assetHref(sibling.assetId, connection) : withQuery(`/jobs/${encodeURIComponent(jobId)}`, { connection })
            }
            prefetch={false}
            title={sibling.name}
            className="block rounded-sm"
          >
            {sibling.picture ? (
              <Picture
                src={sibling.picture}
                alt={sibling.name}
                width={96}
                height={72}
                instead={() => <Plate {...sibling} />}
                className="h-[54px] w-full"
              />
            ) : (
              <Plate {...sibling} />
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Plate({ kind, name }: Pick<Sibling, "kind" | "name">) {
  return (
    <span className="grid h-[54px] place-items-center rounded-sm border border-line bg-sunken text-ink-3">
      <KindIcon kind={kind} className="size-5" />
      <span className="sr-only">{name}</span>
    </span>
  );
}

async function readSiblings(jobId: string, connection: string | undefined): Promise<Sibling[]> {
  const job = `/api/jobs/${encodeURIComponent(jobId)}` as const;
  const listed = await callApi<{ assets: Record<string, unknown>[] }>(withQuery(`${job}/assets`, { limit: MOST + 1, connection }));
  if (listed.ok) return listed.value.assets.flatMap((asset) => ofAsset(asset, connection));
  if (!isAbsent(listed.failure)) throw listed.failure;
  const read = await callApi<JobDetail>(withQuery(job, { connection }));
  if (!read.ok) throw read.failure;
  return listOutputs(read.value.outputs).flatMap((view) => {
    if (!view.file || view.kind === "json") return [];
    const isSeen = view.kind === "image" || view.kind === "video";
    const picture = isSeen ? thumbnailUrl({ connection, file: view.file, edge: 128 }) : undefined;
    return [{ key: `${view.nodeId}/${view.key}/${view.index}`, name: view.name, kind: view.kind, assetId: view.assetId, picture }];
  });
}

function ofAsset(asset: Record<string, unknown>, connection: string | undefined): Sibling[] {
  const id = textOf(asset.id);
  if (id === undefined) return [];
  const name = textOf(asset.name) ?? id;
  const kind = mediaKindOf({ names: [name], types: [textOf(asset.mime_type)] });
  const isSeen = kind === "image" || kind === "video" || textOf(asset.preview_url) !== undefined;
  return [{ key: id, name, kind, assetId: id, picture: isSeen ? thumbnailUrl({ connection, asset: id, edge: 128 }) : undefined }];
}
