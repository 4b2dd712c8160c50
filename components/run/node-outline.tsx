"use client";

import { ToneIcon } from "@/components/ui/tone-icon";
import { nodeDomId } from "./field-ids";
import { type FormNode } from "./form-model";
import { type PlacedProblems } from "./node-problems";
import { own } from "./own";

/** Every node in one look, in the order in which they run; leads to each. */
export function NodeOutline({ form, placed }: { form: readonly FormNode[]; placed: PlacedProblems }) {
  return (
    <ol className="flex flex-col">
      {form.map((node) => (
        <li key={node.id}>
          <a
            href={`#${encodeURIComponent(nodeDomId(node.id))}`}
            className="flex min-h-7 items-center gap-2 rounded-md px-2 text-ink-2 hover:bg-off-soft hover:text-ink"
          >
            <span className="min-w-7 text-ink-3">#{node.id}</span>
            <span className="min-w-0 flex-1 truncate">{node.title}</span>
            {own(placed.byNode, node.id) ? (
              <span className="text-bad">
                <ToneIcon tone="bad" />
              </span>
            ) : null}
          </a>
        </li>
      ))}
    </ol>
  );
}
