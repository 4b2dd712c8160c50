import { useTranslations } from "next-intl";
import { useState } from "react";
import { failureText } from "@/components/frame/failure/fault-owner";
import { Button } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { FileName } from "@/components/ui/truncated";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { readAssets } from "../asset-calls";
import { assetHref } from "../asset-urls";
import { type AssetPage } from "../assets-address";

type Lookup = "looking" | { result: SameContentResult } | { failure: ApiFailure };

const MAX_SHOWN = 10;

/** Searches on click only, since it needs several requests. */
export function SameContent({ asset, connectionId, connection }: { asset: AssetView; connectionId?: string; connection?: string }) {
  const t = useTranslations("assets.same");
  const errors = useTranslations("errors");
  const [lookup, setLookup] = useState<Lookup>();
  async function search() {
    setLookup("looking");
    const result = await findSameContent(asset, (range) => readAssets({ query: bySize, connectionId }, range));
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
        {failureText(errors, lookup.failure)}{" "}
        <Button size="small" onClick={() => void search()}>
          {t("again")}
        </Button>
      </span>
    );
  }
  const { result: found } = lookup;
  if (found.kind === "cannot") return <span role="status">{t("cannot")}</span>;
  return (
    <span role="status">
      {t(found.kind, { count: found.assets.length })}
      {found.assets.length > 0 ? (
        <ul className="mt-1 flex flex-col gap-0.5">
          {found.assets.slice(0, MAX_SHOWN).map(({ id, name }) => (
            <li key={id} className="min-w-0 truncate">
              <Link href={assetHref(id, connection)} prefetch={false} title={id} className="text-accent underline-offset-2 hover:underline">
                <FileName name={name} />
              </Link>
            </li>
          ))}
          {found.assets.length > MAX_SHOWN ? <li className="text-ink-3">{t("more", { count: found.assets.length - MAX_SHOWN })}</li> : null}
        </ul>
      ) : null}
    </span>
  );
}

// Finds assets with the same bytes by a binary search in the list sorted by size, since the API has no search by hash: about twenty small
// requests for a million assets.

type SameContentResult = { kind: "all" | "atLeast"; assets: AssetView[] } | { kind: "cannot" };
export type ReadSorted = (range: { offset: number; limit: number }) => Promise<Result<AssetPage, ApiFailure>>;

/** Above this number of assets of one size, not all are compared. */
const MAX_COMPARED = 2_000;
const PAGE_SIZE = 500;

const bySize = {
  sort: "size",
  order: "asc",
  include_public: true,
  limit: PAGE_SIZE,
  offset: 0,
} as const satisfies AssetsQuery;

export async function findSameContent(asset: AssetView, read: ReadSorted): Promise<Result<SameContentResult, ApiFailure>> {
  const { sizeBytes, hash } = asset;
  if (sizeBytes === undefined || hash === undefined) return ok({ kind: "cannot" });
  const probe = await read({ offset: 0, limit: 1 });
  if (!probe.ok) return probe;
  const { total } = probe.value;
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
  return compare(asset, read, low, total);
}

async function compare(asset: AssetView, read: ReadSorted, from: number, total: number): Promise<Result<SameContentResult, ApiFailure>> {
  const assetsById = new Map<string, AssetView>();
  let compared = 0;
  for (let offset = from; offset < total; offset += PAGE_SIZE) {
    const page = await read({ offset, limit: PAGE_SIZE });
    if (!page.ok) return failed(page.failure);
    const sameSize = page.value.assets.filter(({ sizeBytes }) => sizeBytes === asset.sizeBytes);
    for (const match of sameSize) if (match.hash === asset.hash && match.id !== asset.id) assetsById.set(match.id, match);
    compared += sameSize.length;
    const isPastSize =
      page.value.assets.length === 0 || page.value.assets.some(({ sizeBytes }) => (sizeBytes ?? 0) > (asset.sizeBytes ?? 0));
    if (isPastSize) break;
    if (compared >= MAX_COMPARED) return ok({ kind: "atLeast", assets: [...assetsById.values()] });
  }
  return ok({ kind: "all", assets: [...assetsById.values()] });
}
