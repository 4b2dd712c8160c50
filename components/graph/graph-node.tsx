import { useTranslations } from "next-intl";
import { memo } from "react";
import { cn } from "@/components/ui/cn";
import { Duration, RunningDuration } from "@/components/ui/time/duration";
import { ToneIcon } from "@/components/ui/tone-icon";
import { nodeName } from "@/lib/contract/loose-graph";
import { type GraphNode } from "@/lib/contract/schemas/graph";
import { nodeSize, type PlacedNode } from "./graph-layout";
import { type NodeMark, toneOfState } from "./node-marks";
import { gistOf } from "./node-words";

const edgeOfTone = {
  ok: "border-l-ok",
  run: "border-run",
  wait: "border-l-wait",
  bad: "border-bad",
  off: "border-dashed",
  unknown: "",
} as const;
const inkOfTone = { ok: "text-ok", run: "text-run", wait: "text-wait", bad: "text-bad", off: "text-off", unknown: "text-ink-2" } as const;

type GraphNodeBoxProps = {
  place: PlacedNode;
  node: GraphNode;
  mark?: NodeMark;
  isSelected: boolean;
  isFound: boolean;
  onSelect: (id: string) => void;
};

/** A node of the drawing. Not in the order of Tab: the list beside the drawing is the way for keys. */
export const GraphNodeBox = memo(function GraphNodeBox({ place, node, mark, isSelected, isFound, onSelect }: GraphNodeBoxProps) {
  const title = nodeName(node);
  const tone = mark && toneOfState[mark.state];
  const gist = gistOf(node);
  return (
    <button
      type="button"
      tabIndex={-1}
      data-node={place.id}
      aria-pressed={isSelected}
      title={`#${place.id} ${title}`}
      onClick={() => onSelect(place.id)}
      style={{ left: place.x, top: place.y, width: nodeSize.width, height: nodeSize.height }}
      className={cn(
        "absolute flex flex-col justify-center rounded-md bg-surface px-2.5 text-left hover:bg-sunken",
        tone === "bad" || tone === "run" ? "border-2" : "border border-line-strong",
        (tone === "ok" || tone === "wait") && "border-l-[3px]",
        tone && edgeOfTone[tone],
        isSelected
          ? "outline-2 outline-offset-2 outline-solid outline-accent"
          : isFound && "outline-2 outline-offset-1 outline-dashed outline-accent",
      )}
    >
      <span className="flex w-full items-baseline gap-1">
        <b className={cn("truncate font-semibold", tone === "off" && "text-ink-3")}>{title}</b>
        <span className="shrink-0 text-ink-3">#{place.id}</span>
      </span>
      <span className="flex w-full items-center gap-1 text-xs text-ink-3">
        {mark ? <MarkWord mark={mark} /> : null}
        {gist ? <span className="min-w-0 truncate">{gist}</span> : null}
      </span>
    </button>
  );
});

/** Icon, word, colour; and for how long, where that is known. */
export function MarkWord({ mark }: { mark: NodeMark }) {
  const t = useTranslations("graph.state");
  const tone = toneOfState[mark.state];
  const { fromMs, toMs } = mark;
  return (
    <span className={cn("inline-flex shrink-0 items-center gap-1 [&>svg]:size-3", inkOfTone[tone])}>
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
