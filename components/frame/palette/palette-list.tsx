import { useTranslations } from "next-intl";
import { useEffect, useRef } from "react";
import { cn } from "@/components/ui/cn";
import { paletteGroups, type PaletteItem } from "./palette-items";

type PaletteListProps = {
  id: string;
  items: readonly PaletteItem[];
  activeKey: string | undefined;
  onPoint: (item: PaletteItem) => void;
  onChoose: (item: PaletteItem) => void;
};

/** The focus stays in the field; what is marked is told by `aria-activedescendant`. */
export function PaletteList({ id, items, activeKey, onPoint, onChoose }: PaletteListProps) {
  const t = useTranslations("frame.palette");
  const marked = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Some browsers answer with a promise, which an effect must not return.
    void marked.current?.scrollIntoView({ block: "nearest" });
  }, [activeKey]);
  return (
    <div id={id} role="listbox" aria-label={t("list")} className="mt-2 max-h-[min(420px,60dvh)] overflow-y-auto overscroll-contain">
      {paletteGroups.map((group) => {
        const own = items.filter((item) => item.group === group);
        return own.length === 0 ? null : (
          <div key={group} role="group" aria-labelledby={`${id}-${group}`} className="pb-1.5">
            <div id={`${id}-${group}`} role="presentation" className="px-2.5 py-1 text-xs text-ink-3">
              {t(`group.${group}`)}
            </div>
            {own.map((item) => (
              <div
                key={item.key}
                ref={item.key === activeKey ? marked : undefined}
                id={`${id}-${item.key}`}
                role="option"
                aria-selected={item.key === activeKey}
                // The field keeps the focus, or a keyboard on glass would fold away at each press.
                onPointerDown={(event) => event.preventDefault()}
                onPointerMove={() => item.key !== activeKey && onPoint(item)}
                onClick={() => onChoose(item)}
                className={cn(
                  "flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-2.5 py-1 text-ink",
                  item.key === activeKey && "bg-off-soft",
                )}
              >
                <span className={cn("min-w-0 flex-1 truncate", group === "jobs" && "font-mono text-sm")}>{item.label}</span>
                {item.note ? <span className="max-w-[45%] truncate text-sm text-ink-2">{item.note}</span> : null}
              </div>
            ))}
          </div>
        );
      })}
    </div>
  );
}
