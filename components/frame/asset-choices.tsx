import { Check } from "lucide-react";
import { type KeyboardEvent } from "react";
import { cn } from "@/components/ui/cn";
import { Picture } from "@/components/ui/pictures/picture";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { FileName } from "@/components/ui/truncated";
import { type AssetView } from "@/lib/contract/views/asset-view";

type AssetChoicesProps = {
  label: string;
  /** Whether the list has its own page, which scrolls. */
  isFullPage?: boolean;
  assets: readonly Pick<AssetView, "id" | "name">[];
  getSrc: (id: string) => string;
  /** The selected assets. Absent if a click chooses an asset immediately. */
  selected?: ReadonlyMap<string, unknown>;
  /** `isRange`: Shift was held, to select the range since the last clicked tile. */
  onClick: (id: string, isRange: boolean) => void;
};

export function AssetChoices({ label, isFullPage = false, assets, getSrc, selected, onClick }: AssetChoicesProps) {
  return (
    <ul
      aria-label={label}
      onKeyDown={moveFocus}
      className={cn(
        "grid grid-cols-3 gap-2.5 p-0.5 sm:grid-cols-5 md:grid-cols-6",
        !isFullPage && "max-h-[min(460px,52*var(--dvh))] overflow-y-auto",
      )}
    >
      {assets.map(({ id, name }) => {
        const isSelected = selected?.has(id) ?? false;
        return (
          <li key={id} className="min-w-0">
            <button
              type="button"
              aria-pressed={selected ? isSelected : undefined}
              title={name}
              onClick={({ shiftKey }) => onClick(id, shiftKey)}
              className={cn("block w-full rounded-sm text-left", isSelected && "outline-2 outline-offset-1 outline-accent")}
            >
              <span className="relative block aspect-[4/3] w-full">
                <Picture src={getSrc(id)} alt="" width={160} height={120} className="absolute inset-0 size-full" />
                {isSelected ? (
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

/** Moves the focus with arrow keys. Up and down move by the number of columns. */
function moveFocus(event: KeyboardEvent<HTMLUListElement>): void {
  const tiles = [...event.currentTarget.querySelectorAll<HTMLElement>("button")];
  const index = tiles.findIndex((tile) => tile === document.activeElement);
  const getTop = (tile: HTMLElement | undefined) => tile?.parentElement?.offsetTop ?? 0;
  const columnCount = Math.max(1, tiles.filter((tile) => getTop(tile) === getTop(tiles[0])).length);
  const offsets: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columnCount, ArrowUp: -columnCount };
  const offset = offsets[event.key];
  const target = index < 0 || offset === undefined ? undefined : tiles[index + offset];
  if (!target) return;
  event.preventDefault();
  target.focus();
}

export function ChoicesSkeleton({ label, count }: { label: string; count: number }) {
  const blocks = Array.from({ length: count }, () => "aspect-[4/3] w-full");
  return <LoadingBlocks label={label} blocks={blocks} className="grid grid-cols-3 gap-2.5 sm:grid-cols-5 md:grid-cols-6" />;
}
