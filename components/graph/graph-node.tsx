import { useTranslations } from "next-intl";
import { memo } from "react";
import { cn } from "@/components/ui/cn";
import { Duration, RunningDuration } from "@/components/ui/time/duration";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type GraphNode } from "@/lib/contract/schemas/graph";
import { nodeName } from "@/lib/contract/workflow/graph";
import { nodeSize, type PlacedNode } from "./graph-layout";
import { type NodeMark, toneOfState } from "./node-marks";
import { gistOf, literalsOf } from "./node-words";

const edgeOfTone = {
  ok: "border-l-ok",
  run: "border-run",
  wait: "border-l-wait",
  bad: "border-bad",
  off: "",
  unknown: "",
} as const;
const inkOfTone = { ok: "text-ok", run: "text-run", wait: "text-wait", bad: "text-bad", off: "text-off", unknown: "text-ink-2" } as const;

const ROW = 18;

type GraphNodeBoxProps = {
  place: PlacedNode;
  /** Undefined for a box that exists only in the editor's drawing. */
  node: GraphNode | undefined;
  mark?: NodeMark;
  isSelected: boolean;
  isFound: boolean;
  /** Set when only titles are readable: their size in graph units. */
  titlePx?: number;
  onSelect: (id: string) => void;
};

/** A node of the drawing. Tab skips it: keyboard users have the list beside the drawing. */
export const GraphNodeBox = memo(function GraphNodeBox({ place, node, mark, isSelected, isFound, titlePx, onSelect }: GraphNodeBoxProps) {
  const t = useTranslations("graph");
  const { look } = place;
  const title = node ? nodeName(node) : (look?.title ?? "");
  const tone = mark && toneOfState[mark.state];
  const isLoud = tone === "bad" || tone === "run";
  const isSubgraph = look?.kind === "subgraph";
  const isSmall = titlePx !== undefined;
  const rows =
    node && !isSmall && place.height > nodeSize.height + ROW
      ? literalsOf(node).slice(0, Math.floor((place.height - nodeSize.height) / ROW))
      : [];
  const gist = node && !isSmall && rows.length === 0 && place.height >= nodeSize.height ? gistOf(node) : undefined;
  const id = place.id.slice(place.id.lastIndexOf(":") + 1);
  return (
    <button
      type="button"
      tabIndex={-1}
      data-node={place.id}
      aria-pressed={isSelected}
      title={look?.text ?? `#${place.id} ${title}`}
      onClick={() => onSelect(place.id)}
      style={{
        left: place.x,
        top: place.y,
        width: place.width,
        height: place.height,
        ...(isSmall && { fontSize: Math.min(titlePx, place.height * 0.7), lineHeight: 1.1, paddingTop: 0 }),
        // A border of the default width would be invisible.
        ...(isSmall && isLoud && { borderWidth: titlePx / 4 }),
      }}
      className={cn(
        "absolute flex flex-col overflow-hidden rounded-md px-2.5 text-left",
        look && place.height > nodeSize.height ? "justify-start pt-1.5" : "justify-center",
        look?.kind === "note" ? "bg-wait-soft" : look?.mode ? "bg-sunken" : "bg-surface hover:bg-sunken",
        isSubgraph ? "border-[3px]" : isLoud ? "border-2" : tone === "ok" || tone === "wait" ? "border border-l-[3px]" : "border",
        isSubgraph ? "border-double" : (look?.mode || tone === "off") && "border-dashed",
        !isLoud && "border-line-strong",
        tone && edgeOfTone[tone],
        isSelected
          ? "outline-2 outline-offset-2 outline-solid outline-accent"
          : isFound && "outline-2 outline-offset-1 outline-dashed outline-accent",
      )}
    >
      <span className="flex w-full items-baseline gap-1">
        <b className={cn("truncate font-semibold", (tone === "off" || look?.mode) && "text-ink-3")}>{title}</b>
        {isSmall || look?.kind === "reroute" || look?.kind === "note" ? null : (
          <span className="shrink-0 text-ink-3">#{look ? id : place.id}</span>
        )}
        {look?.mode && !isSmall ? <span className="ml-auto shrink-0 text-xs text-ink-2">{t(`mode.${look.mode}`)}</span> : null}
      </span>
      <span className={cn("flex w-full items-center gap-1 text-ink-3", !isSmall && "text-xs")}>
        {mark ? <MarkWord mark={mark} /> : null}
        {gist ? <span className="min-w-0 truncate">{gist}</span> : null}
        {look?.count === undefined || isSmall ? null : t("nodes", { count: look.count })}
      </span>
      {look?.text && !isSmall ? <span className="mt-1 w-full text-xs whitespace-pre-wrap text-ink-2">{look.text}</span> : null}
      {rows.map(([name, text]) => (
        <span key={name} className="flex w-full items-baseline justify-between gap-2 text-xs leading-[18px]">
          <span className="shrink-0 text-ink-3">{name}</span>
          <span className="min-w-0 truncate">{text}</span>
        </span>
      ))}
      {look?.color ? <span aria-hidden="true" className="absolute inset-x-0 top-0 h-[3px]" style={{ background: look.color }} /> : null}
    </button>
  );
});

/** Icon, word and colour of the state, and its duration where known. */
export function MarkWord({ mark }: { mark: NodeMark }) {
  const t = useTranslations("graph.state");
  const tone = toneOfState[mark.state];
  const { fromMs, toMs } = mark;
  return (
    <span className={cn("inline-flex shrink-0 items-center gap-1 [&>svg]:size-[1em]", inkOfTone[tone])}>
      <ToneIcon tone={tone} />
      {t(mark.state)}
      {fromMs === undefined || mark.state === "cached" || mark.state === "unreached" ? null : (
        <span className="text-ink-3">
          {toMs !== undefined ? (
            <Duration fromMs={fromMs} toMs={toMs} />
          ) : mark.state === "running" ? (
            <RunningDuration fromMs={fromMs} />
          ) : null}
        </span>
      )}
    </span>
  );
}
