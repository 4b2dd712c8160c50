import { Check } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent } from "react";
import useSWR from "swr";
import { cn } from "@/components/ui/cn";
import { FileName } from "@/components/ui/cut";
import { Picture } from "@/components/ui/pictures/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { type AssetQuery, type PictureContext } from "./picture-api";

type AssetChoicesProps = {
  assets: readonly Pick<AssetView, "id" | "name">[];
  srcOf: (id: string) => string;
  /** Absent where one click makes the choice. */
  chosen?: ReadonlyMap<string, unknown>;
  /** `isRange`: Shift was held, which chooses everything from the last clicked tile to this one. */
  onClick: (id: string, isRange: boolean) => void;
};

export function AssetChoices({ assets, srcOf, chosen, onClick }: AssetChoicesProps) {
  const t = useTranslations("run.picker");
  return (
    <ul
      aria-label={t("list")}
      onKeyDown={moveFocus}
      className="grid max-h-[min(460px,52*var(--dvh))] grid-cols-3 gap-2.5 overflow-y-auto p-0.5 sm:grid-cols-5 md:grid-cols-6"
    >
      {assets.map(({ id, name }) => {
        const isChosen = chosen?.has(id) ?? false;
        return (
          <li key={id} className="min-w-0">
            <button
              type="button"
              aria-pressed={chosen ? isChosen : undefined}
              title={name}
              onClick={({ shiftKey }) => onClick(id, shiftKey)}
              className={cn("block w-full rounded-sm text-left", isChosen && "outline-2 outline-offset-1 outline-accent")}
            >
              <span className="relative block aspect-[4/3] w-full">
                <Picture src={srcOf(id)} alt="" width={160} height={120} className="absolute inset-0 size-full" />
                {isChosen ? (
                  <span className="absolute top-1 right-1 grid size-5 place-items-center rounded-full bg-accent text-accent-ink">
                    <Check aria-hidden="true" className="size-3.5" />
                  </span>
                ) : null}
              </span>
              <span className="block truncate py-0.5 text-sm text-ink-2">
                <FileName name={name} />
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Arrow keys move over the tiles as they are laid out; up and down move by the number of columns. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const tiles = [...event.currentTarget.querySelectorAll<HTMLElement>("button")];
  const at = tiles.findIndex((tile) => tile === document.activeElement);
  const top = (tile: HTMLElement | undefined) => tile?.parentElement?.offsetTop ?? 0;
  const columns = Math.max(1, tiles.filter((tile) => top(tile) === top(tiles[0])).length);
  const moves: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
  const move = moves[event.key];
  const to = at < 0 || move === undefined ? undefined : tiles[at + move];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

export function ChoicesSkeleton({ label, count }: { label: string; count: number }) {
  return (
    <div role="status" aria-label={label} className="grid grid-cols-3 gap-2.5 sm:grid-cols-5 md:grid-cols-6">
      {Array.from({ length: count }, (_, place) => (
        <Skeleton key={place} className="aspect-[4/3] w-full" />
      ))}
    </div>
  );
}

/** One page of the connection's assets; the page before stays until the next has loaded. */
export function useAssetPage({ connection, listAssets }: PictureContext, query: AssetQuery) {
  const read = async () => {
    const answer = await listAssets(query);
    if (!answer.ok) throw answer.failure;
    return answer.value;
  };
  const page = useSWR<AssetsAnswer, ApiFailure>(["run.assets", connection, writeExactJson(query)], read, {
    keepPreviousData: true,
    shouldRetryOnError: false,
    revalidateOnFocus: false,
  });
  return { ...page, assets: (page.data?.assets ?? []).map(toAssetView) };
}
