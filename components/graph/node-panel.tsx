import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { cn } from "@/components/ui/cn";
import { Button, IconButton } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { getNodeName } from "@/lib/contract/workflow/graph";
import { MarkText } from "./graph-canvas";
import { findConsumers, getNodeInputs, getPreviewText, type NodeInput, type NodeMark, type NodeMarks } from "./node-search";

type NodePanelProps = { graph: Graph; id: string; mark?: NodeMark; onSelect: (id: string) => void; onClose: () => void };

/** A node's submitted inputs, and the nodes that use its outputs. */
export function NodePanel({ graph, id, mark, onSelect, onClose }: NodePanelProps) {
  const t = useTranslations("graph");
  const node = getOwn(graph, id);
  if (!node) return null;
  const inputs = getNodeInputs(graph, node);
  const consumers = findConsumers(graph, id);
  return (
    <section
      aria-label={t("node", { id, title: getNodeName(node) })}
      className="flex max-h-[560px] min-w-0 flex-col gap-2.5 overflow-auto border-line p-3.5 max-lg:border-t lg:border-l"
    >
      <div className="flex items-start gap-2">
        <h3 className="min-w-0 flex-1 font-semibold break-words">
          {getNodeName(node)} <span className="font-normal text-ink-3">#{id}</span>
        </h3>
        <IconButton icon={X} label={t("closeNode")} tone="quiet" onClick={onClose} className="-my-1" />
      </div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-mono text-sm break-all text-ink-2">{node.class_type}</span>
        {mark ? <MarkText mark={mark} /> : null}
      </p>
      {mark?.problems?.map((problem, index) => (
        <p key={index} className="rounded-md bg-bad-soft px-2.5 py-1.5 break-words text-bad">
          {problem}
        </p>
      ))}
      {inputs.length === 0 ? <p className="text-ink-3">{t("noInputs")}</p> : null}
      <dl className="flex flex-col gap-2">
        {inputs.map((input) => (
          <div key={input.name} className="min-w-0">
            <dt className="text-sm text-ink-3">{input.name}</dt>
            <dd className="flex min-w-0 items-start gap-1">
              <InputValue input={input} graph={graph} onSelect={onSelect} />
            </dd>
          </div>
        ))}
      </dl>
      {consumers.length > 0 ? (
        <p className="flex flex-wrap items-baseline gap-x-1.5 gap-y-1 text-ink-3">
          {t("takers")}
          {consumers.slice(0, 50).map((consumerId) => (
            <NodeLink key={consumerId} id={consumerId} graph={graph} onSelect={onSelect} />
          ))}
          {consumers.length > 50 ? t("more", { count: consumers.length - 50 }) : null}
        </p>
      ) : null}
    </section>
  );
}

function InputValue({ input, graph, onSelect }: { input: NodeInput; graph: Graph; onSelect: (id: string) => void }) {
  const t = useTranslations("graph");
  if (input.kind === "literal") {
    return (
      <>
        <span className="max-h-40 min-w-0 flex-1 overflow-auto break-words whitespace-pre-wrap">
          {input.text === "" ? <span className="text-ink-3">{t("empty")}</span> : input.text}
          {input.isMasked ? <span className="block text-sm text-ink-3">{t("masked")}</span> : null}
        </span>
        {input.text === "" || input.isMasked ? null : <CopyButton text={input.text} label={t("copyInput", { name: input.name })} />}
      </>
    );
  }
  if (input.isDangling) return <span className="text-bad">{t("dangling", { id: input.source })}</span>;
  return (
    <span>
      <NodeLink id={input.source} graph={graph} onSelect={onSelect} />{" "}
      <span className="text-ink-3">{t("output", { index: input.output })}</span>
    </span>
  );
}

function NodeLink({ id, graph, onSelect }: { id: string; graph: Graph; onSelect: (id: string) => void }) {
  const node = getOwn(graph, id);
  return (
    <button type="button" onClick={() => onSelect(id)} className="rounded-sm text-left text-accent underline-offset-2 hover:underline">
      {node ? getNodeName(node) : ""} #{id}
    </button>
  );
}

const PAGE_SIZE = 100;

type NodeListProps = {
  graph: Graph;
  ids: readonly string[];
  marks: NodeMarks;
  selected?: string;
  onSelect: (id: string) => void;
  className: string;
};

/** The graph as a list, for keyboards and screen readers. */
export function NodeList({ graph, ids, marks, selected, onSelect, className }: NodeListProps) {
  const t = useTranslations("graph");
  const [limit, setLimit] = useState(PAGE_SIZE);
  return (
    <div className={cn("overflow-auto", className)}>
      <ul aria-label={t("list")} className="flex flex-col py-1">
        {ids.slice(0, limit).map((id) => {
          const node = getOwn(graph, id);
          const mark = marks.get(id);
          if (!node) return null;
          return (
            <li key={id}>
              <button
                type="button"
                aria-pressed={id === selected}
                onClick={() => onSelect(id)}
                className="flex min-h-8 w-full items-center gap-2 px-3.5 py-1 text-left hover:bg-sunken aria-pressed:outline-2 aria-pressed:-outline-offset-2 aria-pressed:outline-accent"
              >
                <span className="min-w-0 truncate">
                  {getNodeName(node)} <span className="text-ink-3">#{id}</span>
                </span>
                <span className="min-w-0 flex-1 truncate text-sm text-ink-3 max-sm:hidden">{getPreviewText(node)}</span>
                <span className="ml-auto text-sm">{mark ? <MarkText mark={mark} /> : null}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {ids.length > limit ? (
        <Button onClick={() => setLimit(limit + PAGE_SIZE)} className="mx-3.5 mb-3">
          {t("showMore", { count: ids.length - limit })}
        </Button>
      ) : null}
    </div>
  );
}
