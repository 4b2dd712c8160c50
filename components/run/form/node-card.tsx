import { Pin } from "lucide-react";
import { useTranslations } from "next-intl";
import { createContext, memo, useContext } from "react";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { UNNAMED } from "@/lib/contract/editor-workflow/sent-values";
import { getOwn } from "@/lib/contract/json/json";
import { type FilledText } from "@/lib/contract/nodes/fill-texts";
import { type InputSettings } from "../workflow/workflow-memory";
import { SeedControl } from "./controls/basic-controls";
import { FieldControl } from "./controls/field-control";
import { type PictureContext } from "./controls/picture-api";
import { type FormField, type FormNode, getFieldDomId, getNodeDomId, isEditable, isSeed } from "./form-model";
import { hasErrors, isWarning, type NodeProblems, type PlacedProblems, type Problem, ProblemList } from "./problems";

type NodeCardProps = {
  node: FormNode;
  problems?: NodeProblems;
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
  // The problems below already report it.
  const isReported = problems?.node.some(({ type }) => type === "missing_node_type");
  const headingId = `${getNodeDomId(node.id)}-title`;
  return (
    <section
      id={getNodeDomId(node.id)}
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
        {node.isKnown || isReported ? null : <p className="mb-1.5 text-wait">{t("unknownClass", { classType: node.classType })}</p>}
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
                problems={getOwn(problems?.fields, field.name)}
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

type PinnedCardProps = Omit<FieldRowProps, "node" | "field" | "problems"> & { form: readonly FormNode[]; placedProblems: PlacedProblems };

/** The pinned inputs, first on the page. They are not repeated at their nodes. */
export function PinnedCard({ form, placedProblems, ...rowProps }: PinnedCardProps) {
  const t = useTranslations("run.pin");
  const pinnedFields = form.flatMap((node) =>
    node.fields.filter((field) => isEditable(field) && rowProps.settings.isPinned(node.id, field.name)).map((field) => ({ node, field })),
  );
  if (pinnedFields.length === 0) return null;
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-1.5">
      {pinnedFields.map(({ node, field }) => (
        <FieldRow
          key={`${node.id}/${field.name}`}
          {...rowProps}
          node={node}
          field={field}
          problems={getOwn(getOwn(placedProblems.byNode, node.id)?.fields, field.name)}
          isInPinnedCard
        />
      ))}
    </Card>
  );
}

type FieldRowProps = {
  node: FormNode;
  field: FormField;
  problems?: readonly Problem[];
  picture: PictureContext;
  settings: InputSettings;
  isInPinnedCard?: boolean;
  onEdit: (nodeId: string, name: string, value: unknown) => void;
  onRunning: (nodeId: string, name: string, isRunning: boolean) => void;
};

function FieldRow({ node, field, problems, picture, settings, isInPinnedCard = false, onEdit, onRunning }: FieldRowProps) {
  const t = useTranslations("run.node");
  const { name, control } = field;
  const id = getFieldDomId(node.id, name);
  const canEdit = isEditable(field);
  return (
    <div
      data-node-id={node.id}
      className="group/row grid grid-cols-[minmax(96px,150px)_minmax(0,1fr)_24px] items-start gap-x-3 max-sm:grid-cols-[104px_minmax(0,1fr)_24px] max-sm:gap-x-2"
    >
      <FieldName
        htmlFor={canEdit ? id : undefined}
        node={isInPinnedCard ? node : undefined}
        name={!node.isKnown && name === UNNAMED ? t("unnamed") : name}
      />
      <div className="min-w-0">
        <FieldControl
          id={id}
          field={field}
          value={field.value}
          nodeTitle={node.title}
          picture={picture}
          onChange={(value) => onEdit(node.id, name, value)}
          onRunning={(isRunning) => onRunning(node.id, name, isRunning)}
          {...(problems && { "aria-describedby": `${id}-problems` })}
          {...(problems?.some((problem) => !isWarning(problem)) && { "aria-invalid": true })}
        />
        <SentText id={id} />
        {isSeed(name, control) ? (
          <SeedControl
            name={name}
            control={control}
            isRandomised={settings.isRandomised(node.id, name)}
            onSeed={(value) => onEdit(node.id, name, value)}
            onToggle={() => settings.toggle("randomised", node.id, name)}
          />
        ) : null}
        {problems ? <ProblemList id={`${id}-problems`} problems={problems} className="mt-0.5 text-sm" /> : null}
        <NearestButton problems={problems} onSelect={(value) => onEdit(node.id, name, value)} />
      </div>
      {canEdit ? <PinButton node={node} name={name} settings={settings} /> : null}
    </div>
  );
}

/** Offers the service's closest value for one that it does not list. */
function NearestButton({ problems = [], onSelect }: { problems?: readonly Problem[]; onSelect: (value: unknown) => void }) {
  const t = useTranslations("run.problem");
  const nearestValue = problems.find(({ type, extra }) => type === "value_not_in_list" && extra.nearest !== undefined)?.extra.nearest;
  if (nearestValue === undefined) return null;
  return (
    <Button size="small" onClick={() => onSelect(nearestValue)} className="mt-1 max-w-full">
      <span className="truncate">{t("takeNearest", { nearest: String(nearestValue) })}</span>
    </Button>
  );
}

function FieldName({ htmlFor, node, name }: { htmlFor?: string; node?: FormNode; name: string }) {
  const content = (
    <>
      {node ? <span className="block truncate text-sm text-ink-3">{node.title}</span> : null}
      <span className="block truncate">{name}</span>
    </>
  );
  const className = "min-w-0 py-1 text-ink-2";
  return htmlFor === undefined ? (
    <span title={name} className={className}>
      {content}
    </span>
  ) : (
    <label htmlFor={htmlFor} title={name} className={className}>
      {content}
    </label>
  );
}

function PinButton({ node, name, settings }: { node: FormNode; name: string; settings: InputSettings }) {
  const t = useTranslations("run.pin");
  const isPinned = settings.isPinned(node.id, name);
  const label = t(isPinned ? "unpin" : "pin", { name, title: node.title });
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-pressed={isPinned}
      onClick={() => settings.toggle("pinned", node.id, name)}
      className={cn(
        "grid size-6 place-items-center self-start rounded-md text-ink-3 hover:text-ink",
        !isPinned && "opacity-0 group-hover/row:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100",
      )}
    >
      <Pin aria-hidden="true" className={cn("size-3.5", isPinned && "fill-current text-accent")} />
    </button>
  );
}

/** Texts whose sent value differs from the form. */
export const SentTextsContext = createContext<readonly FilledText[]>([]);

function SentText({ id }: { id: string }) {
  const t = useTranslations("run.field");
  const filledText = useContext(SentTextsContext).find(({ nodeId, name }) => getFieldDomId(nodeId, name) === id);
  return filledText ? <p className="mt-0.5 text-sm break-words text-ink-2">{t("sentAs", { text: filledText.text })}</p> : null;
}
