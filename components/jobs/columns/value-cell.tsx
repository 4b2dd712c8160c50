import { useEffect, useRef, useState } from "react";
import { useTranslations } from "next-intl";
import useSWR from "swr";
import { Cut } from "@/components/ui/cut";
import { withQuery } from "@/lib/browser/urls";
import { callApi } from "@/lib/browser/api";
import { createTurns } from "@/lib/shared/turns";
import { looseGraph } from "@/lib/contract/workflow/loose-graph";
import { own } from "@/lib/contract/json/own";

type ValueCellProps = { id: string; connection: string | undefined; node: string; input: string };

/** One input of one node. The job's details are requested once the cell has been in view, and once for all value columns. */
export function ValueCell({ id, connection, node, input }: ValueCellProps) {
  const t = useTranslations("jobList");
  const cell = useRef<HTMLSpanElement>(null);
  const [wasSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = cell.current;
    if (!element || wasSeen) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [wasSeen]);
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const { data, error } = useSWR(wasSeen ? ["inputs", path] : null, () => readInputs(path), {
    // What was submitted does not change.
    revalidateIfStale: false,
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
  });
  const value = own(own(data, node), input);
  return (
    <span ref={cell} className="relative block" title={error ? t("valueFailed") : undefined}>
      {value === undefined ? data || error ? t("nothing") : " " : <Cut text={value} />}
    </span>
  );
}

const LONGEST_VALUE = 200;

/** By node and input; linked and structured values are absent. */
type JobInputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

const fewAtOnce = createTurns(4);

function readInputs(path: `/${string}`): Promise<JobInputs> {
  return fewAtOnce(async () => {
    const result = await callApi<{ workflow?: unknown }>(path);
    if (!result.ok) throw result.failure;
    return toInputs(result.value.workflow);
  });
}

/** Values of a job's graph, shortened so that many rows stay small. */
export function toInputs(workflow: unknown): JobInputs {
  const nodes = Object.entries(looseGraph(workflow) ?? {}).map(([id, node]) => {
    const literals = Object.entries(node.inputs ?? {}).filter(([, value]) =>
      ["string", "number", "bigint", "boolean"].includes(typeof value),
    );
    return [id, Object.fromEntries(literals.map(([name, value]) => [name, String(value).slice(0, LONGEST_VALUE)]))];
  });
  return Object.fromEntries(nodes);
}
