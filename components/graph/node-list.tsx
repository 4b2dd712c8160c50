import { useTranslations } from "next-intl";
import { useState } from "react";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { own } from "@/lib/contract/json/own";
import { type Graph } from "@/lib/contract/schemas/graph";
import { nodeName } from "@/lib/contract/workflow/graph";
import { MarkWord } from "./graph-node";
import { type NodeMarks } from "./node-marks";
import { gistOf } from "./node-words";

const AT_ONCE = 100;

type NodeListProps = {
  graph: Graph;
  ids: readonly string[];
  marks: NodeMarks;
  selected?: string;
  onSelect: (id: string) => void;
  className: string;
};

/** The drawing as a list, for keyboards and screen readers: the same nodes, marks and panel. */
export function NodeList({ graph, ids, marks, selected, onSelect, className }: NodeListProps) {
  const t = useTranslations("graph");
  const [most, setMost] = useState(AT_ONCE);
  return (
    <div className={cn("overflow-auto", className)}>
      <ul aria-label={t("list")} className="flex flex-col py-1">
        {ids.slice(0, most).map((id) => {
          const node = own(graph, id);
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
                  {nodeName(node)} <span className="text-ink-3">#{id}</span>
                </span>
                <span className="min-w-0 flex-1 truncate text-sm text-ink-3 max-sm:hidden">{gistOf(node)}</span>
                <span className="ml-auto text-sm">{mark ? <MarkWord mark={mark} /> : null}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {ids.length > most ? (
        <Button onClick={() => setMost(most + AT_ONCE)} className="mx-3.5 mb-3">
          {t("showMore", { count: ids.length - most })}
        </Button>
      ) : null}
    </div>
  );
}
