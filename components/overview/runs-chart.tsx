import "uplot/dist/uPlot.min.css";
import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import UPlot from "uplot";
import { cn } from "@/components/ui/cn";
import { type RunsOfDay } from "@/lib/contract/console";
import { useDayName } from "./part";

const HEIGHT = 200;
/** From back to front: each bar covers the lower part of the one behind it. */
const layers = [
  { name: "other", token: "--run", ink: "bg-run" },
  { name: "cancelled", token: "--control", ink: "bg-control" },
  { name: "failed", token: "--bad", ink: "bg-bad" },
  { name: "completed", token: "--ok", ink: "bg-ok" },
] as const;

/** Stacked bars, one per day. The table below has the same numbers, so screen readers skip the chart. */
export function RunsChart({ days }: { days: readonly RunsOfDay[] }) {
  const t = useTranslations("overview.runs");
  const nameOf = useDayName();
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number>();
  const { resolvedTheme } = useTheme();
  const chart = useRef<UPlot>(undefined);
  const dayName = useEffectEvent(nameOf);
  const daysNow = useEffectEvent(() => days);
  // While days are being loaded, new numbers arrive every few seconds: only the data is replaced, not the chart.
  useEffect(() => chart.current?.setData(dataOf(days)), [days]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new UPlot(optionsOf(element, daysNow, dayName, setPointed), dataOf(daysNow()), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = undefined;
    };
  }, [resolvedTheme]);
  const lineOf = ({ day, isUnread, ...counts }: RunsOfDay) =>
    isUnread ? t("unreadLine", { day: nameOf(day) }) : t("line", { ...counts, day: nameOf(day) });
  const shown = pointed === undefined ? undefined : days[pointed];
  return (
    <div aria-hidden="true">
      <div ref={place} data-testid="runs-chart" className="h-[200px] w-full overflow-hidden" />
      <p className="mt-1 flex min-h-5 flex-wrap gap-x-3 text-sm text-ink-2 max-sm:min-h-10">
        {shown
          ? lineOf(shown)
          : layers.toReversed().map(({ name, ink }) => (
              <span key={name} className="inline-flex items-center gap-1.5">
                <span className={cn("size-2 rounded-sm", ink)} />
                {t(name)}
              </span>
            ))}
      </p>
    </div>
  );
}

function dataOf(days: readonly RunsOfDay[]): UPlot.AlignedData {
  const sums = (upTo: number) => days.map((runs) => layers.slice(upTo).reduce((sum, { name }) => sum + runs[name], 0));
  return [days.map((_, index) => index), ...layers.map((_, index) => sums(index))];
}

function optionsOf(
  element: HTMLElement,
  daysNow: () => readonly RunsOfDay[],
  dayName: (day: string) => string,
  point: (index: number | undefined) => void,
): UPlot.Options {
  const style = getComputedStyle(element);
  const colour = (token: string) => style.getPropertyValue(token).trim();
  const font = `11px ${style.fontFamily}`;
  const bars = UPlot.paths.bars?.({ size: [0.7, 40], radius: 0.08 });
  const axis = { stroke: colour("--ink-3"), font, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: {
      x: { time: false, range: () => [-0.5, daysNow().length - 0.5] },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        splits: () => daysNow().map((_, index) => index),
        space: 64,
        // As many names as fit, including the last day.
        values: (chart, splits) => {
          const days = daysNow();
          const every = Math.max(1, Math.ceil((splits.length * 72) / Math.max(1, chart.width)));
          return splits.map((index) => ((days.length - 1 - index) % every === 0 ? dayName(days[index]?.day ?? "") : ""));
        },
      },
      {
        ...axis,
        size: 44,
        grid: { stroke: colour("--line"), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
      },
    ],
    series: [
      {},
      ...layers.map(({ token }) => ({ stroke: colour(token), fill: colour(token), width: 0, points: { show: false }, paths: bars })),
    ],
    hooks: {
      drawClear: [(chart) => markUnread(chart, daysNow(), colour("--line"))],
      setCursor: [({ cursor: { idx } }) => point(idx ?? undefined)],
    },
  };
}

/** Marks days that are not loaded, behind the bars and over the full height, so that they do not look like days with few runs. */
function markUnread({ ctx, bbox, valToPos }: UPlot, days: readonly RunsOfDay[], colour: string): void {
  ctx.save();
  ctx.fillStyle = colour;
  days.forEach(({ isUnread }, index) => {
    if (!isUnread) return;
    const [left, right] = [valToPos(index - 0.42, "x", true), valToPos(index + 0.42, "x", true)];
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  });
  ctx.restore();
}
