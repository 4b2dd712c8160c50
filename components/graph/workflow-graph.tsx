import { ChevronRight, Maximize, Minus, Plus } from "lucide-react";
import { useTranslations } from "next-intl";
import { type FormEvent, useMemo, useState } from "react";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Button, IconButton } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { useMedia } from "@/components/ui/hooks/use-media";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { isEditorFile } from "@/lib/contract/editor-workflow/file";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { findBox, getSubgraphNames, layoutEditorFile, type SubgraphPath } from "./editor-layout";
import { GraphCanvas } from "./graph-canvas";
import { GraphJson } from "./graph-json";
import { type GraphLayout, layoutGraph } from "./graph-layout";
import { NodeList, NodePanel } from "./node-panel";
import { findImportantNode, mergeMarks, type NodeMark, type NodeMarks, searchNodes } from "./node-search";
import { SaveWorkflow } from "./save-workflow";
import { useViewport } from "./viewport";

const PHONE_QUERY = "(max-width: 639px)";

const views = ["drawing", "list", "json"] as const;

/** A node requested from outside the graph; `serial` distinguishes two clicks on the same link. */
export type NodeRequest = { id: string; serial: number };

type WorkflowGraphProps = {
  graph: Graph;
  marks: NodeMarks;
  /** The workflow as submitted, shown and saved as JSON. */
  json: unknown;
  fileName: string;
  nodeRequest?: NodeRequest;
  /** Set if a form is next to it: selecting a node focuses the form instead of opening a panel. */
  formSelection?: { selected?: string; onSelect: (id: string) => void };
  /** The same nodes and links in a stable object, so that typing does not recompute the layout. */
  shape?: Graph;
  /** The editor's file; if present, the graph is drawn as in the editor. */
  drawing?: JsonObject;
  /** The text to save and the suggested title. */
  save?: { title: string; connection?: string; getText: () => string | undefined };
  className?: string;
};

/** A workflow as a drawing, as a list of its nodes and as JSON; selecting a node shows its inputs. */
export function WorkflowGraph({
  graph,
  marks,
  json,
  fileName,
  nodeRequest,
  formSelection,
  shape = graph,
  drawing,
  save,
  className,
}: WorkflowGraphProps) {
  const t = useTranslations("graph");
  // Next to a form and on phones the frame is narrow.
  const isPhone = useMedia(PHONE_QUERY);
  const isVertical = formSelection !== undefined || isPhone;
  const file = useMemo(() => readMatchingDrawing(drawing, shape), [drawing, shape]);
  const [subgraphPath, setSubgraphPath] = useState<SubgraphPath>(topLevelPath);
  const layout = useMemo(
    () => (file ? layoutEditorFile(file, subgraphPath, shape) : layoutGraph(shape, isVertical)),
    [file, subgraphPath, shape, isVertical],
  );
  const boxMarks = useMemo(() => (file ? mergeMarksByBox(layout, marks) : marks), [file, layout, marks]);
  const importantNode = useMemo(() => findImportantNode(boxMarks), [boxMarks]);
  const viewport = useViewport(layout, importantNode);
  const [view, setView] = useState<(typeof views)[number]>("drawing");
  const [openNodeId, setOpenNodeId] = useState<string>();
  const selected = formSelection ? formSelection.selected : openNodeId;
  const selectNode = formSelection ? formSelection.onSelect : setOpenNodeId;
  function select(id: string) {
    if (Object.hasOwn(graph, id)) return selectNode(id);
    // Selecting a subgraph's box enters the subgraph.
    const path = file && layout.nodes.get(id)?.look?.kind === "subgraph" ? id.split(":") : undefined;
    if (path) enterSubgraph(path);
  }
  function enterSubgraph(path: SubgraphPath) {
    setSubgraphPath(path);
    viewport.fit();
  }
  const [followedId, setFollowedId] = useState(selected);
  const [targetId, setTargetId] = useState<string>();
  const [query, setQuery] = useState("");
  const [handledSerial, setHandledSerial] = useState<number>();
  const matches = useMemo(() => searchNodes(graph, query), [graph, query]);
  const matchSet = useMemo(() => new Set(matches), [matches]);
  // Fills its container next to a form, otherwise has a fixed height.
  const height = formSelection ? "h-full min-h-0" : "h-[360px] lg:h-[560px]";
  const isSearching = query.trim() !== "";
  const isPanelOpen = !formSelection && selected !== undefined;

  function showNode(id: string) {
    select(id);
    setTargetId(id);
  }
  if (formSelection && selected !== followedId) {
    setFollowedId(selected);
    setTargetId(selected);
  }
  if (targetId !== undefined && viewport.size.width > 0) {
    const box = file && findBox(file, targetId);
    const node = layout.nodes.get(box?.id ?? targetId);
    // The node is in another subgraph, which must be rendered first.
    if (box && !node) setSubgraphPath(box.subgraphPath);
    else setTargetId(undefined);
    if (node) viewport.reveal(node);
  }
  // The frame must be measured before a node can be centered.
  if (nodeRequest && nodeRequest.serial !== handledSerial && viewport.size.width > 0) {
    setHandledSerial(nodeRequest.serial);
    if (view === "json") setView("drawing");
    showNode(nodeRequest.id);
  }
  function showNextMatch(event: FormEvent) {
    event.preventDefault();
    const nextId = matches[(selected === undefined ? -1 : matches.indexOf(selected)) + 1] ?? matches[0];
    if (nextId !== undefined) showNode(nextId);
  }
  return (
    <Card
      title={t("title")}
      note={t("nodes", { count: Object.keys(graph).length })}
      actions={
        <>
          {save ? <SaveWorkflow {...save} tone="quiet" size="small" /> : null}
          <div role="group" aria-label={t("faces")} className="flex">
            {views.map((name) => (
              <Button
                key={name}
                tone="quiet"
                size="small"
                aria-pressed={view === name}
                onClick={() => setView(name)}
                className="aria-pressed:bg-off-soft"
              >
                {t(`face.${name}`)}
              </Button>
            ))}
          </div>
        </>
      }
      className={cn("flex flex-col", className)}
      bodyClassName="flex min-h-0 flex-1 flex-col p-0"
    >
      {view === "json" ? null : (
        <form role="search" onSubmit={showNextMatch} className="flex flex-wrap items-center gap-2 border-b border-line px-3.5 py-1.5">
          <Input
            type="search"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            aria-label={t("search")}
            placeholder={t("search")}
            className="w-[220px] max-w-full"
          />
          <span role="status" className="text-sm text-ink-3">
            {isSearching ? t("found", { count: matches.length }) : null}
          </span>
          {view === "drawing" ? (
            <span className="ml-auto flex items-center gap-1">
              <IconButton icon={Minus} label={t("zoomOut")} tone="quiet" onClick={viewport.zoomOut} />
              <IconButton icon={Plus} label={t("zoomIn")} tone="quiet" onClick={viewport.zoomIn} />
              <Button size="small" tone="quiet" aria-label={t("actualSize")} onClick={viewport.actualSize}>
                1:1
              </Button>
              <Button size="small" tone="quiet" onClick={viewport.fit}>
                <Maximize aria-hidden="true" className="size-3.5" />
                {t("fit")}
              </Button>
            </span>
          ) : null}
        </form>
      )}
      {!file && isEditorFile(drawing) && view === "drawing" ? (
        <p className="border-b border-line px-3.5 py-1.5 text-sm text-ink-2">{t("otherDrawing")}</p>
      ) : null}
      {file && subgraphPath.length > 0 && view === "drawing" ? (
        <nav aria-label={t("trail")} className="flex flex-wrap items-center gap-1 border-b border-line px-2 py-1">
          {[t("outside"), ...getSubgraphNames(file, subgraphPath)].map((name, depth) => (
            <Button
              key={depth}
              size="small"
              tone="quiet"
              aria-current={depth === subgraphPath.length ? "location" : undefined}
              onClick={() => enterSubgraph(subgraphPath.slice(0, depth))}
            >
              {depth > 0 ? <ChevronRight aria-hidden="true" className="size-3.5" /> : null}
              {name}
            </Button>
          ))}
        </nav>
      ) : null}
      {view === "json" ? <GraphJson json={json} fileName={fileName} className={height} /> : null}
      <div className={cn("min-h-0 flex-1", view === "json" ? "hidden" : "grid", isPanelOpen && "lg:grid-cols-[minmax(0,1fr)_280px]")}>
        {view === "list" ? (
          <NodeList
            graph={graph}
            ids={isSearching ? matches : file ? Object.keys(graph) : [...layout.nodes.keys()]}
            marks={marks}
            selected={selected}
            onSelect={select}
            className={height}
          />
        ) : null}
        <GraphCanvas
          graph={graph}
          layout={layout}
          marks={boxMarks}
          viewport={viewport}
          selected={selected}
          matches={matchSet}
          onSelect={select}
          isHidden={view !== "drawing"}
          className={height}
        />
        {isPanelOpen ? (
          <NodePanel graph={graph} id={selected} mark={marks.get(selected)} onSelect={showNode} onClose={() => setOpenNodeId(undefined)} />
        ) : null}
      </div>
    </Card>
  );
}

const topLevelPath: SubgraphPath = [];

/** A box for several nodes has their most important state, and no times, since those belong to single nodes. */
function mergeMarksByBox(layout: GraphLayout, marks: NodeMarks): NodeMarks {
  const marksByBox = new Map<string, NodeMark>();
  for (const [id, mark] of marks) {
    if (layout.nodes.has(id)) marksByBox.set(id, mark);
    for (let end = id.lastIndexOf(":"); end > 0; end = id.lastIndexOf(":", end - 1)) {
      const boxId = id.slice(0, end);
      if (layout.nodes.has(boxId)) marksByBox.set(boxId, mergeMarks(marksByBox.get(boxId), mark));
    }
  }
  return marksByBox;
}
