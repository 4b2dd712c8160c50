import { useTranslations } from "next-intl";
import useSWR from "swr";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { FileName } from "@/components/ui/truncated";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { createThumbnailUrl, toJobHref, withQuery } from "@/lib/browser/urls";
import { isMissingOperation } from "@/lib/contract/failure";
import { object, text } from "@/lib/contract/json/readers";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { getMediaKind, listOutputs } from "@/lib/contract/views/outputs-view";
import { getAssetHref } from "../asset-api";
import { KindIcon } from "../asset-thumbnail";

type Sibling = { key: string; name: string; kind: ReturnType<typeof getMediaKind>; assetId?: string; file?: string; thumbnailUrl?: string };
type Siblings = { siblings: Sibling[]; isTruncated: boolean };
type NamedAsset = { id: string; name: string; hash?: string };
type JobSiblingsProps = { jobId: string; asset: NamedAsset; connectionId?: string; connection?: string };

const MAX_SIBLINGS = 60;

/** The job's other outputs. Uses the job's assets if the service lists them, otherwise the outputs of the job. */
export function JobSiblings({ jobId, asset, connectionId, connection }: JobSiblingsProps) {
  const t = useTranslations("assets.siblings");
  const errors = useTranslations("errors");
  const { data, error, mutate } = useSWR<Siblings, ApiFailure>(
    connectionId === undefined ? null : ["siblings", jobId, connectionId],
    () => fetchSiblings(jobId, connectionId),
    { revalidateOnFocus: false, revalidateIfStale: false, shouldRetryOnError: false },
  );
  if (error?.status === 404) return <p className="text-ink-3">{t("gone")}</p>;
  if (error) {
    return (
      <p role="alert" className="text-bad">
        {formatFailure(errors, error)}{" "}
        <Button size="small" onClick={() => void mutate()}>
          {t("again")}
        </Button>
      </p>
    );
  }
  if (!data)
    return (
      <LoadingBlocks
        label={t("loading")}
        blocks={Array.from({ length: 3 }, () => "h-[54px] w-full")}
        className="grid grid-cols-[repeat(auto-fill,minmax(72px,1fr))] gap-2"
      />
    );
  const assetIndex = data.siblings.findIndex((sibling) => isSameAsset(sibling, asset));
  const otherSiblings = data.siblings.filter((_, index) => index !== assetIndex);
  const isTruncated = data.isTruncated || otherSiblings.length > MAX_SIBLINGS;
  if (otherSiblings.length === 0) return <p className="text-ink-3">{t("none")}</p>;
  const jobHref = toJobHref(jobId, connection);
  return (
    <>
      <ul aria-label={t("label")} className="grid grid-cols-[repeat(auto-fill,minmax(72px,1fr))] gap-2">
        {otherSiblings.slice(0, MAX_SIBLINGS).map((sibling) => (
          <li key={sibling.key} className="min-w-0">
            <Link
              href={sibling.assetId ? getAssetHref(sibling.assetId, connection) : jobHref}
              prefetch={false}
              title={sibling.name}
              className="block rounded-sm"
            >
              {sibling.thumbnailUrl ? (
                <Picture
                  src={sibling.thumbnailUrl}
                  alt={sibling.name}
                  width={96}
                  height={72}
                  fallback={() => <Placeholder {...sibling} />}
                  className="h-[54px] w-full"
                />
              ) : (
                <Placeholder {...sibling} />
              )}
            </Link>
          </li>
        ))}
      </ul>
      {isTruncated ? (
        <Link href={jobHref} className="mt-1.5 inline-block text-accent underline-offset-2 hover:underline">
          {t("more")}
        </Link>
      ) : null}
    </>
  );
}

/** Services with only the core API list a job's files instead of assets, named by content hash or asset name. */
function isSameAsset({ assetId, name, file }: Sibling, { id, name: assetName, hash }: NamedAsset): boolean {
  if (assetId !== undefined) return assetId === id;
  const hashDigits = hash?.slice(hash.indexOf(":") + 1);
  return hashDigits === undefined ? name === assetName : file?.startsWith(hashDigits) === true || name === assetName;
}

function Placeholder({ kind, name }: Pick<Sibling, "kind" | "name">) {
  return (
    <span className="grid h-[54px] place-items-center rounded-sm border border-line bg-sunken text-ink-3">
      <KindIcon kind={kind} className="size-5" />
      <span className="sr-only">
        <FileName name={name} />
      </span>
    </span>
  );
}

async function fetchSiblings(jobId: string, connection: string | undefined): Promise<Siblings> {
  const jobPath = `/api/jobs/${encodeURIComponent(jobId)}` as const;
  const result = await callApi<{ assets: unknown[] }>(withQuery(`${jobPath}/assets`, { limit: MAX_SIBLINGS + 2, connection }));
  // One of them is the asset itself, so one more than shown is needed.
  const maxItems = MAX_SIBLINGS + 1;
  if (result.ok) {
    const { assets } = result.value;
    return { siblings: assets.slice(0, maxItems).flatMap((asset) => toSiblings(asset, connection)), isTruncated: assets.length > maxItems };
  }
  if (!isMissingOperation(result.failure)) throw result.failure;
  const jobResult = await callApi<JobDetail>(withQuery(jobPath, { connection }));
  if (!jobResult.ok) throw jobResult.failure;
  const outputs = listOutputs(jobResult.value.outputs).flatMap((view) => {
    if (!view.file || view.kind === "json") return [];
    const hasThumbnail = view.kind === "image" || view.kind === "video";
    const thumbnailUrl = hasThumbnail ? createThumbnailUrl({ connection, file: view.file, edge: 128 }) : undefined;
    return [
      {
        key: `${view.nodeId}/${view.key}/${view.index}`,
        name: view.name,
        kind: view.kind,
        assetId: view.assetId,
        file: view.file.filename,
        thumbnailUrl,
      },
    ];
  });
  return { siblings: outputs.slice(0, maxItems), isTruncated: outputs.length > maxItems };
}

const parseListedAsset = object({ id: text }, { name: text, mime_type: text, preview_url: text });

function toSiblings(response: unknown, connection: string | undefined): Sibling[] {
  const asset = parseListedAsset(response);
  if (!asset) return [];
  const { id, name = id, mime_type, preview_url } = asset;
  const kind = getMediaKind({ names: [name], types: [mime_type] });
  const hasThumbnail = kind === "image" || kind === "video" || preview_url !== undefined;
  return [
    { key: id, name, kind, assetId: id, thumbnailUrl: hasThumbnail ? createThumbnailUrl({ connection, asset: id, edge: 128 }) : undefined },
  ];
}
