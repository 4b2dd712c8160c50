"use client";

import { useTranslations } from "next-intl";
import { memo } from "react";
import { cn } from "@/components/ui/cn";
import { FieldControl } from "./field-control";
import { fieldDomId, nodeDomId } from "./field-ids";
import { type FormField, type FormNode } from "./form-model";
import { type NodeProblems, type Problem } from "./node-problems";
import { own } from "./own";
import { ProblemList } from "./problem-list";
import { type PictureContext } from "./picture-context";

type NodeCardProps = {
  node: FormNode;
  problems?: NodeProblems;
  picture: PictureContext;
  onEdit: (nodeId: string, name: string, value: unknown) => void;
  onRunning: (nodeId: string, name: string, isRunning: boolean) => void;
};

export const NodeCard = memo(function NodeCard({ node, problems, picture, onEdit, onRunning }: NodeCardProps) {
  const t = useTranslations("run.node");
  const hasProblem = problems !== undefined;
  // The service's own word for it stands among the problems.
  const isSaid = problems?.node.some(({ type }) => type === "missing_node_type");
  const headingId = `${nodeDomId(node.id)}-title`;
  return (
    <section
      id={nodeDomId(node.id)}
      tabIndex={-1}
      aria-labelledby={headingId}
      data-problem={hasProblem || undefined}
      className={cn(
        "scroll-mt-[68px] rounded-lg border bg-surface [content-visibility:auto] [contain-intrinsic-size:auto_140px]",
        hasProblem ? "border-bad" : "border-line",
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
        {node.known || isSaid ? null : <p className="mb-1.5 text-wait">{t("unknownClass", { classType: node.classType })}</p>}
        {problems ? <ProblemList problems={problems.node} className="mb-1.5" /> : null}
        {node.fields.length === 0 ? <p className="text-ink-3">{t("noInputs")}</p> : null}
        <div className="flex flex-col gap-1.5">
          {node.fields.map((field) => (
            <FieldRow
              key={field.name}
              node={node}
              field={field}
              problems={own(problems?.fields, field.name)}
              picture={picture}
              onEdit={onEdit}
              onRunning={onRunning}
            />
          ))}
        </div>
      </div>
    </section>
  );
});

type FieldRowProps = Omit<NodeCardProps, "problems"> & { field: FormField; problems?: readonly Problem[] };

function FieldRow({ node, field, problems, picture, onEdit, onRunning }: FieldRowProps) {
  const id = fieldDomId(node.id, field.name);
  const isControl = !["link", "unconnected", "fixed"].includes(field.control.kind);
  const label = "truncate py-1 text-ink-2";
  return (
    <div className="grid grid-cols-[minmax(96px,150px)_minmax(0,1fr)] items-start gap-x-3 max-sm:grid-cols-[104px_minmax(0,1fr)]">
      {isControl ? (
        <label htmlFor={id} title={field.name} className={label}>
          {field.name}
        </label>
      ) : (
        <span title={field.name} className={label}>
          {field.name}
        </span>
      )}
      <div className="min-w-0">
        <FieldControl
          id={id}
          field={field}
          value={field.value}
          nodeTitle={node.title}
          picture={picture}
          onChange={(value) => onEdit(node.id, field.name, value)}
          onRunning={(isRunning) => onRunning(node.id, field.name, isRunning)}
          {...(problems && { "aria-invalid": true, "aria-describedby": `${id}-problem` })}
        />
        {problems ? <ProblemList id={`${id}-problem`} problems={problems} className="mt-1" /> : null}
      </div>
    </div>
  );
}
