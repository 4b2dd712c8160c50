import { useTranslations } from "next-intl";
import { memo, type MouseEvent, type PointerEvent, useMemo, useState } from "react";
import { cn } from "@/components/ui/cn";
import { ToneIcon, toneInk } from "@/components/ui/status-badge";
import { Duration, RunningDuration } from "@/components/ui/time";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph, type GraphNode } from "@/lib/contract/schemas/graph";
import { getNodeName } from "@/lib/contract/workflow/graph";
import { type GraphLayout, nodeSize, type PlacedGroup, type PlacedNode, toBoxesPath, toEdgesPath } from "./graph-layout";
import { getLiterals, getPreviewText, type NodeMark, type NodeMarks, toneByState } from "./node-search";
import { type useViewport } from "./viewport";
import { findNodeAt, isInView, MIN_COMFORTABLE_SCALE, MIN_READABLE_SCALE } from "./viewport";

type GraphCanvasProps = {
  graph: Graph;
  layout: GraphLayout;
  marks: NodeMarks;
  viewport: ReturnType<typeof useViewport>;
  selected?: string;
  matches: ReadonlySet<string>;
  onSelect: (id: string) => void;
  /** Whether another view covers the canvas. It stays mounted to keep its state. */
  isHidden: boolean;
  className: string;
};

/** The title size in screen pixels, if the graph is too small for other text. */
const TITLE_PX = 11;

export function GraphCanvas({ graph, layout, marks, viewport, selected, matches, onSelect, isHidden, className }: GraphCanvasProps) {
  const t = useTranslations("graph");
  const { frame, view, size, handlers, toPoint } = viewport;
  // If no text is readable, all nodes are drawn as a few shapes.
  const isReadable = view.scale >= MIN_READABLE_SCALE;
  const edges = useMemo(() => toEdgesPath(layout, layout.edges), [layout]);
  const selectedEdges = useMemo(
    () =>
      selected === undefined
        ? ""
        : toEdgesPath(
            layout,
            layout.edges.filter(({ source, target }) => source === selected || target === selected),
          ),
    [layout, selected],
  );
  // Titles keep their size on screen when zooming out.
  const titlePx = view.scale < MIN_COMFORTABLE_SCALE ? Math.round(TITLE_PX / view.scale) : undefined;
  const [tooltip, setTooltip] = useState<{ node: PlacedNode; x: number; y: number }>();
  const visibleNodes = isReadable ? [...layout.nodes.values()].filter((node) => isInView(node, view, size)) : [];

  function selectInOverview(event: MouseEvent) {
    const node = isReadable ? undefined : findNodeAt(layout.nodes.values(), view, toPoint(event));
    if (node) onSelect(node.id);
  }
  function updateTooltip(event: PointerEvent) {
    const point = toPoint(event);
    const node = isReadable ? undefined : findNodeAt(layout.nodes.values(), view, point);
    setTooltip(node && { node, ...point });
  }
  return (
    <div
      ref={frame}
      role="group"
      tabIndex={0}
      aria-label={t("drawing")}
      aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown + - 0 1"
      {...handlers}
      hidden={isHidden}
      onClick={selectInOverview}
      onPointerMove={(event) => {
        handlers.onPointerMove(event);
        updateTooltip(event);
      }}
      onPointerLeave={(event) => {
        handlers.onPointerLeave(event);
        setTooltip(undefined);
      }}
      className={cn(
        "relative cursor-grab touch-none overflow-hidden bg-[radial-gradient(var(--color-line)_1px,transparent_1px)] [background-size:18px_18px] select-none active:cursor-grabbing",
        className,
      )}
    >
      <svg className="pointer-events-none absolute inset-0 size-full" aria-hidden="true">
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`} fill="none">
          {layout.groups?.map((group, index) => (
            <GroupBox key={index} group={group} />
          ))}
          <path d={edges} className="stroke-control" strokeWidth={1.5} />
          <path d={selectedEdges} className="stroke-accent" strokeWidth={2} />
          {isReadable ? null : <Overview layout={layout} marks={marks} matches={matches} selected={selected} />}
        </g>
      </svg>
      <div
        className="absolute top-0 left-0 origin-top-left"
        style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
      >
        {visibleNodes.map((placedNode) => {
          const node = getOwn(graph, placedNode.id);
          return node || placedNode.look ? (
            <GraphNodeBox
              key={placedNode.id}
              placedNode={placedNode}
              node={node}
              mark={marks.get(placedNode.id)}
              isSelected={placedNode.id === selected}
              isFound={matches.has(placedNode.id)}
              titlePx={titlePx}
              onSelect={onSelect}
            />
          ) : null;
        })}
      </div>
      {tooltip && !isReadable ? (
        <div
          aria-hidden="true"
          style={{ left: tooltip.x + 12, top: tooltip.y + 12 }}
          className="pointer-events-none absolute z-10 flex max-w-72 items-baseline gap-2 rounded-sm border border-line bg-surface px-2 py-1 text-sm shadow-pop"
        >
          <span className="truncate">{getNodeLabel(getOwn(graph, tooltip.node.id), tooltip.node)}</span>
          {marks.get(tooltip.node.id) ? <MarkText mark={marks.get(tooltip.node.id) ?? { state: "unreached" }} /> : null}
        </div>
      ) : null}
    </div>
  );
}

function getNodeLabel(node: Graph[string] | undefined, { id, look }: PlacedNode): string {
  return `#${id} ${node ? getNodeName(node) : (look?.title ?? "")}`;
}

function GroupBox({ group: { title, x, y, width, height, color } }: { group: PlacedGroup }) {
  const style = color === undefined ? undefined : { stroke: color, fill: color };
  return (
    <g>
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        rx={8}
        style={style}
        fillOpacity={0.08}
        className="fill-off-soft stroke-line-strong"
      />
      <text x={x + 12} y={y + 24} className="fill-ink-2 text-[18px] font-semibold">
        {title}
      </text>
    </g>
  );
}

const shapeStyles = {
  plain: "fill-surface stroke-line-strong",
  ok: "fill-ok-soft stroke-ok",
  run: "fill-run-soft stroke-run",
  wait: "fill-wait-soft stroke-wait",
  bad: "fill-bad-soft stroke-bad",
  off: "fill-off-soft stroke-line-strong",
  found: "fill-accent-soft stroke-accent",
  selected: "fill-accent stroke-accent",
} as const;
type Shape = keyof typeof shapeStyles;

function Overview({
  layout,
  marks,
  matches,
  selected,
}: {
  layout: GraphLayout;
  marks: NodeMarks;
  matches: ReadonlySet<string>;
  selected?: string;
}) {
  const paths = useMemo(() => {
    const groups = new Map<Shape, PlacedNode[]>();
    const getShape = (id: string): Shape => {
      if (id === selected) return "selected";
      if (matches.has(id)) return "found";
      const state = marks.get(id)?.state;
      const tone = state && toneByState[state];
      return tone === undefined || tone === "unknown" ? "plain" : tone;
    };
    for (const node of layout.nodes.values()) {
      const shape = getShape(node.id);
      const group = groups.get(shape);
      if (group) group.push(node);
      else groups.set(shape, [node]);
    }
    return [...groups].map(([shape, nodes]) => ({ shape, d: toBoxesPath(nodes) }));
  }, [layout, marks, matches, selected]);
  return paths.map(({ shape, d }) => (
    <path key={shape} d={d} className={shapeStyles[shape]} vectorEffect="non-scaling-stroke" strokeWidth={shape === "bad" ? 2 : 1} />
  ));
}

const borderByTone = {
  ok: "border-l-ok",
  run: "border-run",
  wait: "border-l-wait",
  bad: "border-bad",
  off: "",
  unknown: "",
} as const;

const ROW_HEIGHT = 18;

type GraphNodeBoxProps = {
  placedNode: PlacedNode;
  /** Undefined for boxes that exist only in the editor's drawing. */
  node: GraphNode | undefined;
  mark?: NodeMark;
  isSelected: boolean;
  isFound: boolean;
  /** The size of titles in graph units, if only titles are readable. */
  titlePx?: number;
  onSelect: (id: string) => void;
};

/** A node of the graph. Tab skips it, since keyboard users have the node list. */
const GraphNodeBox = memo(function GraphNodeBox({ placedNode, node, mark, isSelected, isFound, titlePx, onSelect }: GraphNodeBoxProps) {
  const t = useTranslations("graph");
  const { look } = placedNode;
  const title = node ? getNodeName(node) : (look?.title ?? "");
  const tone = mark && toneByState[mark.state];
  const isHighlighted = tone === "bad" || tone === "run";
  const isSubgraph = look?.kind === "subgraph";
  const isSmall = titlePx !== undefined;
  const rows =
    node && !isSmall && placedNode.height > nodeSize.height + ROW_HEIGHT
      ? getLiterals(node).slice(0, Math.floor((placedNode.height - nodeSize.height) / ROW_HEIGHT))
      : [];
  const preview = node && !isSmall && rows.length === 0 && placedNode.height >= nodeSize.height ? getPreviewText(node) : undefined;
  const id = placedNode.id.slice(placedNode.id.lastIndexOf(":") + 1);
  return (
    <button
      type="button"
      tabIndex={-1}
      data-node={placedNode.id}
      aria-pressed={isSelected}
      title={look?.text ?? `#${placedNode.id} ${title}`}
      onClick={() => onSelect(placedNode.id)}
      style={{
        left: placedNode.x,
        top: placedNode.y,
        width: placedNode.width,
        height: placedNode.height,
        ...(isSmall && { fontSize: Math.min(titlePx, placedNode.height * 0.7), lineHeight: 1.1, paddingTop: 0 }),
        // The default border would be invisible when zoomed out.
        ...(isSmall && isHighlighted && { borderWidth: titlePx / 4 }),
      }}
      className={cn(
        "absolute flex flex-col overflow-hidden rounded-md px-2.5 text-left",
        look && placedNode.height > nodeSize.height ? "justify-start pt-1.5" : "justify-center",
        look?.kind === "note" ? "bg-wait-soft" : look?.mode ? "bg-sunken" : "bg-surface hover:bg-sunken",
        isSubgraph ? "border-[3px]" : isHighlighted ? "border-2" : tone === "ok" || tone === "wait" ? "border border-l-[3px]" : "border",
        isSubgraph ? "border-double" : (look?.mode || tone === "off") && "border-dashed",
        !isHighlighted && "border-line-strong",
        tone && borderByTone[tone],
        isSelected
          ? "outline-2 outline-offset-2 outline-solid outline-accent"
          : isFound && "outline-2 outline-offset-1 outline-dashed outline-accent",
      )}
    >
      <span className="flex w-full items-baseline gap-1">
        <b className={cn("truncate font-semibold", (tone === "off" || look?.mode) && "text-ink-3")}>{title}</b>
        {isSmall || look?.kind === "reroute" || look?.kind === "note" ? null : (
          <span className="shrink-0 text-ink-3">#{look ? id : placedNode.id}</span>
        )}
        {look?.mode && !isSmall ? <span className="ml-auto shrink-0 text-xs text-ink-2">{t(`mode.${look.mode}`)}</span> : null}
      </span>
      <span className={cn("flex w-full items-center gap-1 text-ink-3", !isSmall && "text-xs")}>
        {mark ? <MarkText mark={mark} /> : null}
        {preview ? <span className="min-w-0 truncate">{preview}</span> : null}
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

/** Icon, label and colour of the state, and its duration if known. */
export function MarkText({ mark }: { mark: NodeMark }) {
  const t = useTranslations("graph.state");
  const tone = toneByState[mark.state];
  const { fromMs, toMs } = mark;
  return (
    <span className={cn("inline-flex shrink-0 items-center gap-1 [&>svg]:size-[1em]", toneInk[tone])}>
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
