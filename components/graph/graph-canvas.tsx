import { useTranslations } from "next-intl";
import { type MouseEvent, type PointerEvent, useMemo, useState } from "react";
import { cn } from "@/components/ui/cn";
import { own } from "@/lib/contract/json/own";
import { type Graph } from "@/lib/contract/schemas/graph";
import { nodeName } from "@/lib/contract/workflow/graph";
import { type GraphLayout, type PlacedGroup, type PlacedNode } from "./graph-layout";
import { GraphNodeBox, MarkWord } from "./graph-node";
import { boxesPath, edgesPath } from "./graph-paths";
import { type NodeMarks, toneOfState } from "./node-marks";
import { type useViewport } from "./use-viewport";
import { COMFORTABLE, isInView, nodeAt, READABLE } from "./viewport";

type GraphCanvasProps = {
  graph: Graph;
  layout: GraphLayout;
  marks: NodeMarks;
  viewport: ReturnType<typeof useViewport>;
  selected?: string;
  found: ReadonlySet<string>;
  onSelect: (id: string) => void;
  /** Kept mounted behind another view, so that it reappears as it was. */
  isHidden: boolean;
  className: string;
};

/** In screen pixels, for titles of a graph that is too small for other text. */
const TITLE_PX = 11;

/** Only visible nodes are elements of the page. */
export function GraphCanvas({ graph, layout, marks, viewport, selected, found, onSelect, isHidden, className }: GraphCanvasProps) {
  const t = useTranslations("graph");
  const { frame, view, size, handlers, placeOf } = viewport;
  // Where no text is readable, all nodes together are drawn as a few shapes.
  const isReadable = view.scale >= READABLE;
  const edges = useMemo(() => edgesPath(layout, layout.edges), [layout]);
  const near = useMemo(
    () =>
      selected === undefined
        ? ""
        : edgesPath(
            layout,
            layout.edges.filter(({ source, target }) => source === selected || target === selected),
          ),
    [layout, selected],
  );
  // Titles keep their size on screen while the graph gets smaller.
  const titlePx = view.scale < COMFORTABLE ? Math.round(TITLE_PX / view.scale) : undefined;
  const [pointed, setPointed] = useState<{ node: PlacedNode; x: number; y: number }>();
  const seen = isReadable ? [...layout.nodes.values()].filter((node) => isInView(node, view, size)) : [];

  function pressUnreadable(event: MouseEvent) {
    const node = isReadable ? undefined : nodeAt(layout.nodes.values(), view, placeOf(event));
    if (node) onSelect(node.id);
  }
  function pointAt(event: PointerEvent) {
    const at = placeOf(event);
    const node = isReadable ? undefined : nodeAt(layout.nodes.values(), view, at);
    setPointed(node && { node, ...at });
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
      onClick={pressUnreadable}
      onPointerMove={(event) => {
        handlers.onPointerMove(event);
        pointAt(event);
      }}
      onPointerLeave={(event) => {
        handlers.onPointerLeave(event);
        setPointed(undefined);
      }}
      className={cn(
        "relative cursor-grab touch-none overflow-hidden bg-[radial-gradient(var(--line)_1px,transparent_1px)] [background-size:18px_18px] select-none active:cursor-grabbing",
        className,
      )}
    >
      <svg className="pointer-events-none absolute inset-0 size-full" aria-hidden="true">
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`} fill="none">
          {layout.groups?.map((group, index) => (
            <GroupBox key={index} group={group} />
          ))}
          <path d={edges} className="stroke-control" strokeWidth={1.5} />
          <path d={near} className="stroke-accent" strokeWidth={2} />
          {isReadable ? null : <Overview layout={layout} marks={marks} found={found} selected={selected} />}
        </g>
      </svg>
      <div
        className="absolute top-0 left-0 origin-top-left"
        style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
      >
        {seen.map((place) => {
          const node = own(graph, place.id);
          return node || place.look ? (
            <GraphNodeBox
              key={place.id}
              place={place}
              node={node}
              mark={marks.get(place.id)}
              isSelected={place.id === selected}
              isFound={found.has(place.id)}
              titlePx={titlePx}
              onSelect={onSelect}
            />
          ) : null;
        })}
      </div>
      {pointed && !isReadable ? (
        <div
          aria-hidden="true"
          style={{ left: pointed.x + 12, top: pointed.y + 12 }}
          className="pointer-events-none absolute z-10 flex max-w-72 items-baseline gap-2 rounded-sm border border-line bg-surface px-2 py-1 text-sm shadow-pop"
        >
          <span className="truncate">{nameOf(own(graph, pointed.node.id), pointed.node)}</span>
          {marks.get(pointed.node.id) ? <MarkWord mark={marks.get(pointed.node.id) ?? { state: "unreached" }} /> : null}
        </div>
      ) : null}
    </div>
  );
}

function nameOf(node: Graph[string] | undefined, { id, look }: PlacedNode): string {
  return `#${id} ${node ? nodeName(node) : (look?.title ?? "")}`;
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

const shapes = {
  plain: "fill-surface stroke-line-strong",
  ok: "fill-ok-soft stroke-ok",
  run: "fill-run-soft stroke-run",
  wait: "fill-wait-soft stroke-wait",
  bad: "fill-bad-soft stroke-bad",
  off: "fill-off-soft stroke-line-strong",
  found: "fill-accent-soft stroke-accent",
  selected: "fill-accent stroke-accent",
} as const;
type Shape = keyof typeof shapes;

function Overview({
  layout,
  marks,
  found,
  selected,
}: {
  layout: GraphLayout;
  marks: NodeMarks;
  found: ReadonlySet<string>;
  selected?: string;
}) {
  const paths = useMemo(() => {
    const groups = new Map<Shape, PlacedNode[]>();
    const shapeOf = (id: string): Shape => {
      if (id === selected) return "selected";
      if (found.has(id)) return "found";
      const state = marks.get(id)?.state;
      const tone = state && toneOfState[state];
      return tone === undefined || tone === "unknown" ? "plain" : tone;
    };
    for (const node of layout.nodes.values()) {
      const shape = shapeOf(node.id);
      const group = groups.get(shape);
      if (group) group.push(node);
      else groups.set(shape, [node]);
    }
    return [...groups].map(([shape, nodes]) => ({ shape, d: boxesPath(nodes) }));
  }, [layout, marks, found, selected]);
  return paths.map(({ shape, d }) => (
    <path key={shape} d={d} className={shapes[shape]} vectorEffect="non-scaling-stroke" strokeWidth={shape === "bad" ? 2 : 1} />
  ));
}
