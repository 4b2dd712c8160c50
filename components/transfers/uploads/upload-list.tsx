import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import { type UploadItem } from "./upload-item";
import { ROW_PX, UploadRow } from "./upload-row";

/** Extra rows above and below the visible ones. */
const MARGIN = 6;
const HEIGHT_PX = 312;

/** May list thousands of files, and renders only those near the view. The focused row stays rendered. */
export function UploadList({ items, onDetails }: { items: readonly UploadItem[]; onDetails: (key: number) => void }) {
  const t = useTranslations("uploads");
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const shown = Math.ceil(HEIGHT_PX / ROW_PX);
  const from = Math.max(0, Math.min(Math.floor(top / ROW_PX), items.length - shown) - MARGIN);
  const to = Math.min(items.length, from + shown + 2 * MARGIN);
  // A list that became shorter changes the scroll position.
  useEffect(() => setTop(scroller.current?.scrollTop ?? 0), [items.length]);
  if (items.length === 0) return <p className="px-3 py-4 text-center text-ink-3">{t("tray.none")}</p>;
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={t("tray.list")}
      className="max-h-[min(312px,46dvh)] overflow-y-auto"
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <ul>
        <Space rows={from} />
        {items.slice(from, to).map((item, at) => (
          <li key={item.key} aria-setsize={items.length} aria-posinset={from + at + 1} className="border-b border-line last:border-0">
            <UploadRow item={item} onDetails={onDetails} />
          </li>
        ))}
        <Space rows={items.length - to} />
      </ul>
    </div>
  );
}

/** An SVG can have a height without an inline style. */
function Space({ rows }: { rows: number }) {
  return rows > 0 ? (
    <li aria-hidden="true">
      <svg className="block" width="1" height={rows * ROW_PX} />
    </li>
  ) : null;
}
