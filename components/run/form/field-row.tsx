import { Pin } from "lucide-react";
import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { UNNAMED } from "@/lib/contract/editor-workflow/sent-values";
import { type InputSettings } from "../workflow/use-workflow-memory";
import { FieldControl } from "./controls/field-control";
import { type PictureContext } from "./controls/picture-context";
import { SeedControl } from "./controls/seed-control";
import { fieldDomId } from "./field-ids";
import { type FormField, type FormNode } from "./form-model";
import { isWarning, type Problem } from "./node-problems";
import { ProblemList } from "./problem-list";
import { isSeed } from "./seeds";
import { SentAs } from "./sent-texts";

export type FieldRowProps = {
  node: FormNode;
  field: FormField;
  problems?: readonly Problem[];
  picture: PictureContext;
  settings: InputSettings;
  /** In the card of pinned inputs the node's name is shown too. */
  isAmongPinned?: boolean;
  onEdit: (nodeId: string, name: string, value: unknown) => void;
  onRunning: (nodeId: string, name: string, isRunning: boolean) => void;
};

export function FieldRow({ node, field, problems, picture, settings, isAmongPinned = false, onEdit, onRunning }: FieldRowProps) {
  const t = useTranslations("run.node");
  const { name, control } = field;
  const id = fieldDomId(node.id, name);
  const isControl = isEditable(field);
  return (
    <div
      data-node-id={node.id}
      className="group/row grid grid-cols-[minmax(96px,150px)_minmax(0,1fr)_24px] items-start gap-x-3 max-sm:grid-cols-[104px_minmax(0,1fr)_24px] max-sm:gap-x-2"
    >
      <FieldName
        htmlFor={isControl ? id : undefined}
        node={isAmongPinned ? node : undefined}
        name={!node.known && name === UNNAMED ? t("unnamed") : name}
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
        <SentAs id={id} />
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
        <NearestButton problems={problems} onTake={(value) => onEdit(node.id, name, value)} />
      </div>
      {isControl ? <PinButton node={node} name={name} settings={settings} /> : null}
    </div>
  );
}

export function isEditable({ control }: FormField): boolean {
  return !["link", "unconnected", "fixed"].includes(control.kind);
}

/** Offers the service's value that is closest to one that it does not have. */
function NearestButton({ problems = [], onTake }: { problems?: readonly Problem[]; onTake: (value: unknown) => void }) {
  const t = useTranslations("run.problem");
  const nearest = problems.find(({ type, extra }) => type === "value_not_in_list" && extra.nearest !== undefined)?.extra.nearest;
  if (nearest === undefined) return null;
  return (
    <Button size="small" onClick={() => onTake(nearest)} className="mt-1 max-w-full">
      <span className="truncate">{t("takeNearest", { nearest: String(nearest) })}</span>
    </Button>
  );
}

function FieldName({ htmlFor, node, name }: { htmlFor?: string; node?: FormNode; name: string }) {
  const text = (
    <>
      {node ? <span className="block truncate text-sm text-ink-3">{node.title}</span> : null}
      <span className="block truncate">{name}</span>
    </>
  );
  const className = "min-w-0 py-1 text-ink-2";
  return htmlFor === undefined ? (
    <span title={name} className={className}>
      {text}
    </span>
  ) : (
    <label htmlFor={htmlFor} title={name} className={className}>
      {text}
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
