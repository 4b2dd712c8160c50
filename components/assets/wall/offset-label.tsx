import { useTranslations } from "next-intl";
import { useSyncExternalStore } from "react";
import { useNumber } from "@/components/ui/hooks/use-numbers";
import { type AssetsSource } from "./assets-source";
import { type Wall } from "./use-wall";

type OffsetLabelProps = { wall: Wall<{ columns: number; rowPx: number }>; source: AssetsSource };

const never = () => false;

/** Shows the position in the list during fast scrolling. */
export function OffsetLabel({ wall, source }: OffsetLabelProps) {
  const t = useTranslations("assets.grid");
  const number = useNumber();
  const isFlying = useSyncExternalStore(wall.motion.subscribe, wall.motion.isFlying, never);
  // For a short list the scroll bar is enough.
  if (!isFlying || source.count < 300 || !wall.drawn) return null;
  const at = Math.min(source.count, source.offset + wall.firstIndex() + 1);
  return (
    <div aria-hidden="true" className="pointer-events-none fixed top-1/2 right-8 z-30 -translate-y-1/2">
      <span className="rounded-md bg-ink px-3 py-1.5 text-lg font-medium text-bg tabular-nums shadow-xl">
        {t("place", { at: number(at), total: number(source.total ?? source.count) })}
      </span>
    </div>
  );
}
