import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useMemo, useState } from "react";
import { findOutputNodes } from "@/components/run/form/checks";
import { createFormBuilder, isEditable } from "@/components/run/form/form-model";
import { Card } from "@/components/ui/card";
import { Button, IconButton } from "@/components/ui/controls/button";
import { Checkbox, Input } from "@/components/ui/controls/fields";
import { type AppDefinition, type AppInput, type AppOutput } from "@/lib/contract/apps/app";
import { createInputDraft, createOutputDraft } from "@/lib/contract/apps/draft";
import { addDefault } from "@/lib/contract/apps/fill";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { getNodeName, sortTopologically } from "@/lib/contract/workflow/graph";
import { InputEditor } from "./input-editor";

type InputsCardProps = {
  definition: AppDefinition;
  catalogue?: ObjectInfo;
  unsupported: readonly string[];
  onChange: (inputs: AppInput[]) => void;
};

/** The app's inputs in order, each with a collapsed editor, and the workflow's other inputs that can be added. */
export function InputsCard({ definition: { graph, inputs }, catalogue, unsupported, onChange }: InputsCardProps) {
  const t = useTranslations("apps.make.inputs");
  const [openInput, setOpenInput] = useState<string>();
  const toInputKey = ({ node, input }: Pick<AppInput, "node" | "input">) => `${node} ${input}`;
  function move(index: number, offset: number) {
    const reorderedInputs = [...inputs];
    const [movedInput] = reorderedInputs.splice(index, 1);
    if (movedInput) reorderedInputs.splice(index + offset, 0, movedInput);
    onChange(reorderedInputs);
  }
  return (
    <Card title={t("title")} note={inputs.length} bodyClassName="flex flex-col gap-3">
      {inputs.length === 0 ? <p className="text-ink-2">{t("none")}</p> : null}
      {unsupported.length > 0 ? (
        <p className="break-words text-ink-2">
          {t("notAsked", { count: unsupported.length, names: unsupported.slice(0, MAX_SHOWN_NAMES).join(", ") })}
        </p>
      ) : null}
      {inputs.length > 0 ? (
        <ol className="flex flex-col rounded-md border border-line">
          {inputs.map((input, index) => (
            <li key={toInputKey(input)} className="border-b border-line last:border-b-0">
              <div className="flex min-h-[40px] items-center gap-1 px-2.5 py-1">
                <button
                  type="button"
                  aria-expanded={openInput === toInputKey(input)}
                  onClick={() => setOpenInput(openInput === toInputKey(input) ? undefined : toInputKey(input))}
                  className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2 text-left"
                >
                  <span className="truncate font-medium">{input.label}</span>
                  <span className="truncate text-sm text-ink-3">{getLocation(graph, catalogue, input)}</span>
                </button>
                <IconButton
                  tone="quiet"
                  size="small-icon"
                  icon={ArrowUp}
                  label={t("up", { name: input.label })}
                  disabled={index === 0}
                  onClick={() => move(index, -1)}
                />
                <IconButton
                  tone="quiet"
                  size="small-icon"
                  icon={ArrowDown}
                  label={t("down", { name: input.label })}
                  disabled={index === inputs.length - 1}
                  onClick={() => move(index, 1)}
                />
                <IconButton
                  tone="quiet"
                  size="small-icon"
                  icon={X}
                  label={t("remove", { name: input.label })}
                  onClick={() => onChange(inputs.filter((item) => item !== input))}
                />
              </div>
              {openInput === toInputKey(input) ? (
                <InputEditor
                  input={input}
                  defaultValue={addDefault(input, graph).default}
                  suggestedControl={createInputDraft(graph, input, catalogue)?.control ?? input.control}
                  groups={[...new Set(inputs.flatMap(({ group }) => group || []))]}
                  onChange={(nextInput) => onChange(inputs.map((item) => (item === input ? nextInput : item)))}
                />
              ) : null}
            </li>
          ))}
        </ol>
      ) : null}
      <AvailableInputs
        graph={graph}
        catalogue={catalogue}
        inputs={inputs}
        onAdd={(newInput) => {
          onChange([...inputs, newInput]);
          setOpenInput(toInputKey(newInput));
        }}
      />
    </Card>
  );
}

function getLocation(graph: Graph, catalogue: ObjectInfo | undefined, { node: id, input }: AppInput): string {
  const node = getOwn(graph, id);
  return node ? `${getNodeName(node, getOwn(catalogue, node.class_type)?.display_name)} · ${input}` : input;
}

const MAX_SHOWN_INPUTS = 60;
const MAX_SHOWN_NAMES = 20;

function focusAdjacentRow(button: HTMLElement): void {
  const row = button.closest("li");
  (row?.nextElementSibling ?? row?.previousElementSibling)?.querySelector("button")?.focus();
}

type AvailableInputsProps = { graph: Graph; catalogue?: ObjectInfo; inputs: readonly AppInput[]; onAdd: (input: AppInput) => void };

function AvailableInputs({ graph, catalogue, inputs, onAdd }: AvailableInputsProps) {
  const t = useTranslations("apps.make.inputs");
  const [searchText, setSearchText] = useState("");
  // Stays open after an input is added: users often add several.
  const [isOpen, setOpen] = useState(inputs.length === 0);
  const editableInputs = useMemo(() => {
    const form = createFormBuilder(graph, sortTopologically(graph), catalogue)(graph);
    return form.flatMap((node) => node.fields.filter(isEditable).map(({ name }) => ({ node: node.id, input: name, title: node.title })));
  }, [graph, catalogue]);
  const normalizedText = searchText.trim().toLowerCase();
  const matches = editableInputs.filter(
    ({ node, input, title }) =>
      !inputs.some((item) => item.node === node && item.input === input) && `${title} ${input}`.toLowerCase().includes(normalizedText),
  );
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer text-ink-2 hover:text-ink">{t("add")}</summary>
      <Input
        type="search"
        aria-label={t("find")}
        placeholder={t("find")}
        value={searchText}
        onChange={({ target }) => setSearchText(target.value)}
        onKeyDown={(event) => (event.key === "Enter" ? event.preventDefault() : undefined)}
        className="my-2 w-full"
      />
      <ul aria-label={t("add")} className="flex max-h-72 flex-col overflow-y-auto">
        {matches.slice(0, MAX_SHOWN_INPUTS).map(({ node, input, title }) => {
          const draft = createInputDraft(graph, { node, input }, catalogue, inputs);
          return (
            <li key={`${node} ${input}`} className="flex min-h-[34px] items-center gap-2">
              <span className="min-w-0 flex-1 truncate">
                <span className="text-ink-3">{title}</span> · {input}
              </span>
              {draft ? (
                <Button
                  size="small"
                  aria-label={t("addOf", { input, title })}
                  onClick={({ currentTarget }) => {
                    focusAdjacentRow(currentTarget);
                    onAdd(draft);
                  }}
                >
                  <Plus aria-hidden="true" className="size-3.5" />
                  {t("addOne")}
                </Button>
              ) : (
                <span className="text-sm text-ink-3">{t("cannot")}</span>
              )}
            </li>
          );
        })}
      </ul>
      {matches.length > MAX_SHOWN_INPUTS ? (
        <p className="text-sm text-ink-3">{t("more", { count: matches.length - MAX_SHOWN_INPUTS })}</p>
      ) : null}
    </details>
  );
}

type OutputsCardProps = { definition: AppDefinition; catalogue?: ObjectInfo; onChange: (outputs: AppOutput[]) => void };

/** Selects the output nodes that are the app's results. If none are selected, all are. */
export function OutputsCard({ definition: { graph, outputs }, catalogue, onChange }: OutputsCardProps) {
  const t = useTranslations("apps.make.outputs");
  const availableOutputs = useMemo(() => {
    const nodes = new Set([...findOutputNodes(graph, catalogue), ...outputs.map(({ node }) => node)]);
    return [...nodes].flatMap((node) => createOutputDraft(graph, node, catalogue) ?? []);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the list must not change while its checkboxes are toggled
  }, [graph, catalogue]);
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-2">
      <p className="text-ink-2">{t("text")}</p>
      <ul className="flex flex-col gap-1.5">
        {availableOutputs.map((item) => {
          const selectedOutput = outputs.find(({ node }) => node === item.node);
          return (
            <li key={item.node} className="flex min-h-[30px] flex-wrap items-center gap-2.5">
              <label className="flex min-w-0 flex-1 items-center gap-2">
                <Checkbox
                  checked={selectedOutput !== undefined}
                  onChange={({ target }) =>
                    onChange(target.checked ? [...outputs, item] : outputs.filter(({ node }) => node !== item.node))
                  }
                />
                <span className="truncate">{item.label}</span>
              </label>
              {selectedOutput ? (
                <Input
                  aria-label={t("label", { name: item.label })}
                  required
                  maxLength={80}
                  value={selectedOutput.label}
                  onChange={({ target }) =>
                    onChange(outputs.map((output) => (output === selectedOutput ? { ...output, label: target.value } : output)))
                  }
                  className="w-48"
                />
              ) : null}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
