import { useTranslations } from "next-intl";
import { memo } from "react";
import { cn } from "@/components/ui/cn";
import { own } from "@/lib/contract/json/own";
import { type InputSettings } from "../workflow/use-workflow-memory";
import { type PictureContext } from "./controls/picture-context";
import { nodeDomId } from "./field-ids";
import { FieldRow } from "./field-row";
import { type FormNode } from "./form-model";
import { hasErrors, type NodeProblems } from "./node-problems";
import { ProblemList } from "./problem-list";

type NodeCardProps = {
  node: FormNode;
  problems?: NodeProblems;
  /** The node that is selected in the drawing. */
  isFollowed?: boolean;
  picture: PictureContext;
  settings: InputSettings;
  onEdit: (nodeId: string, name: string, value: unknown) => void;
  onRunning: (nodeId: string, name: string, isRunning: boolean) => void;
};

export const NodeCard = memo(function NodeCard({
  node,
  problems,
  isFollowed = false,
  picture,
  settings,
  onEdit,
  onRunning,
}: NodeCardProps) {
  const t = useTranslations("run.node");
  const hasProblem = problems !== undefined && hasErrors(problems);
  // The problems already name it, in the service's own words.
  const isReported = problems?.node.some(({ type }) => type === "missing_node_type");
  const headingId = `${nodeDomId(node.id)}-title`;
  return (
    <section
      id={nodeDomId(node.id)}
      tabIndex={-1}
      aria-labelledby={headingId}
      data-node-id={node.id}
      data-problem={hasProblem || undefined}
      className={cn(
        "scroll-mt-[68px] rounded-lg border bg-surface [content-visibility:auto] [contain-intrinsic-size:auto_140px]",
        hasProblem ? "border-bad" : isFollowed ? "border-accent" : "border-line",
      )}
    >
      <h2
        id={headingId}
        className={cn("flex min-h-[36px] items-baseline gap-2 rounded-t-lg border-b border-line px-3.5 py-2", hasProblem && "bg-bad-soft")}
      >
        <span className="font-semibold">{node.title}</span>
        <span className="text-ink-3">#{node.id}</span>
        {node.title === node.classType ? null : (
          <span className="ml-auto min-w-0 truncate font-mono text-sm text-ink-3">{node.classType}</span>
        )}
      </h2>
      <div className="px-3.5 py-2.5">
        {node.known || isReported ? null : <p className="mb-1.5 text-wait">{t("unknownClass", { classType: node.classType })}</p>}
        {problems ? <ProblemList problems={problems.node} className="mb-1.5" /> : null}
        {node.fields.length === 0 ? <p className="text-ink-3">{t("noInputs")}</p> : null}
        <div className="flex flex-col gap-1.5">
          {node.fields
            .filter(({ name }) => !settings.isPinned(node.id, name))
            .map((field) => (
              <FieldRow
                key={field.name}
                node={node}
                field={field}
                problems={own(problems?.fields, field.name)}
                picture={picture}
                settings={settings}
                onEdit={onEdit}
                onRunning={onRunning}
              />
            ))}
        </div>
      </div>
    </section>
  );
});
