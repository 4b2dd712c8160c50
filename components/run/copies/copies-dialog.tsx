import { useTranslations } from "next-intl";
import { useId, useMemo, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { Options, Select } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { getOwn } from "@/lib/contract/json/json";
import { type FilledText } from "@/lib/contract/nodes/fill-texts";
import { type PictureContext } from "../form/controls/picture-api";
import { type FormField, type FormNode, isEditable } from "../form/form-model";
import { type Edit } from "../workflow/opened-workflow";
import {
  formatValue,
  getCopyLabel,
  getDefaultStep,
  getVariationKinds,
  type Literal,
  parseVariation,
  type Variation,
  type VariationInput,
  type VariationKind,
  type VariationProblem,
} from "./variation";
import { VariationFields } from "./variation-fields";

/** `values`: the pictures dropped on this input or picked for it. */
export type CopiesRequest = { nodeId: string; name: string; values?: readonly string[] };
type CopiesChoice = { nodeId: string; input: string; values: readonly Literal[] };

type CopiesDialogProps = {
  isOpen: boolean;
  form: readonly FormNode[];
  request?: CopiesRequest;
  picture: PictureContext;
  hasRandomSeeds: boolean;
  /** Texts of this copy that are sent differently from the form. */
  getFilledTexts: (edit: Edit, copy: number) => readonly FilledText[];
  isBusy: boolean;
  onClose: () => void;
  onStart: (choice: CopiesChoice) => void;
};

const MAX_UNCONFIRMED_COPIES = 20;

type InputOption = { node: FormNode; field: FormField };

/** Chooses which input varies between copies, and how; previews the submission. */
export function CopiesDialog({
  isOpen,
  form,
  request,
  picture,
  hasRandomSeeds,
  getFilledTexts,
  isBusy,
  onClose,
  onStart,
}: CopiesDialogProps) {
  const t = useTranslations("run.copies");
  const inputOptions = useMemo(() => getInputOptions(form), [form]);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} className="w-[min(620px,calc(100vw-24px))]">
      {isBusy || inputOptions.length === 0 ? (
        <p>{t(isBusy ? "busy" : "nothing")}</p>
      ) : (
        <CopiesForm
          inputOptions={inputOptions}
          initialIndex={findInitialIndex(inputOptions, request)}
          pendingImages={request?.values}
          picture={picture}
          hasRandomSeeds={hasRandomSeeds}
          getFilledTexts={getFilledTexts}
          onClose={onClose}
          onStart={onStart}
        />
      )}
    </Dialog>
  );
}

type CopiesFormProps = Pick<CopiesDialogProps, "picture" | "hasRandomSeeds" | "getFilledTexts" | "onClose" | "onStart"> & {
  inputOptions: readonly InputOption[];
  initialIndex: number;
  pendingImages?: readonly string[];
};

function CopiesForm({
  inputOptions,
  initialIndex,
  pendingImages,
  picture,
  hasRandomSeeds,
  getFilledTexts,
  onClose,
  onStart,
}: CopiesFormProps) {
  const t = useTranslations("run.copies");
  const id = useId();
  const [choiceIndex, setChoiceIndex] = useState(initialIndex);
  const choice = inputOptions[choiceIndex] ?? inputOptions[0];
  const [kind, setKind] = useState<VariationKind>();
  const [variationInput, setVariationInput] = useState<VariationInput>(() => getInitialInput(choice?.field, pendingImages));
  const connectionName = useConnection()?.name ?? "none";
  /** The confirmed values; changed values need a new confirmation. */
  const [confirmedValues, setConfirmedValues] = useState<readonly Literal[]>();
  const { kinds, selectedKind, variation } = useMemo(
    () => getVariation(choice?.field, kind, variationInput),
    [choice, kind, variationInput],
  );
  const isConfirming = confirmedValues !== undefined && variation.ok && confirmedValues === variation.values;
  function chooseInput(index: number) {
    setChoiceIndex(index);
    setKind(undefined);
    setVariationInput(getInitialInput(inputOptions[index]?.field));
  }
  return (
    <form
      className="flex flex-col gap-3 text-ink"
      onSubmit={(event) => {
        event.preventDefault();
        if (!choice || !variation.ok) return;
        const { values } = variation;
        if (values.length > MAX_UNCONFIRMED_COPIES && confirmedValues !== values) setConfirmedValues(values);
        else onStart({ nodeId: choice.node.id, input: choice.field.name, values });
      }}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <label htmlFor={`${id}-input`} className="w-[72px] text-ink-2">
          {t("input")}
        </label>
        <Select
          id={`${id}-input`}
          value={String(choiceIndex)}
          onChange={({ target }) => chooseInput(Number(target.value))}
          className="min-w-0 flex-1 basis-60"
        >
          <Options of={inputOptions.map(({ node, field }, index) => [index, `${field.name} · #${node.id} ${node.title}`])} />
        </Select>
      </div>
      <div role="radiogroup" aria-label={t("how")} className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span aria-hidden="true" className="w-[72px] text-ink-2">
          {t("how")}
        </span>
        {kinds.map((option) => (
          <label key={option} className="flex min-h-7 items-center gap-1.5">
            <input
              type="radio"
              name={`${id}-way`}
              checked={option === selectedKind}
              onChange={() => setKind(option)}
              className="accent-accent"
            />
            {t(`way.${option}`)}
          </label>
        ))}
      </div>
      {choice && selectedKind ? (
        <VariationFields
          key={`${choice.node.id}/${choice.field.name}`}
          field={choice.field}
          kind={selectedKind}
          input={variationInput}
          picture={picture}
          onChange={(change) => setVariationInput({ ...variationInput, ...change })}
        />
      ) : null}
      {variation.ok && choice ? (
        <CopiesPreview
          name={choice.field.name}
          values={variation.values}
          getFilledTexts={(value, index) => getFilledTexts({ nodeId: choice.node.id, name: choice.field.name, value }, index)}
          ownNames={picture.ownNames}
          hasRandomSeeds={hasRandomSeeds}
        />
      ) : (
        <Problem problem={variation.ok ? { code: "none" } : variation.problem} />
      )}
      {isConfirming ? (
        <p role="alert" className="font-semibold">
          {t("confirm", { count: confirmedValues.length, connection: connectionName })}
        </p>
      ) : null}
      <FormFooter
        onClose={isConfirming ? () => setConfirmedValues(undefined) : onClose}
        cancelLabel={t(isConfirming ? "change" : "cancel")}
        disabled={!variation.ok}
        label={
          !variation.ok
            ? t("startNone")
            : isConfirming
              ? t("confirmed", { count: confirmedValues.length })
              : t("start", { count: variation.values.length })
        }
      />
    </form>
  );
}

/** Computed once per input, so that the seeds shown are the ones sent. */
function getVariation(field: FormField | undefined, kind: VariationKind | undefined, input: VariationInput) {
  const kinds = field ? getVariationKinds(field) : [];
  const selectedKind = kind && kinds.includes(kind) ? kind : kinds[0];
  const noVariation: Variation = { ok: false, problem: { code: "none" } };
  return { kinds, selectedKind, variation: field && selectedKind ? parseVariation(field, selectedKind, input) : noVariation };
}

function Problem({ problem }: { problem: VariationProblem }) {
  const t = useTranslations("run.copies.problem");
  switch (problem.code) {
    case "too_many":
      return <p className="text-bad">{t("too_many", { max: problem.max })}</p>;
    case "no_number":
      return <p className="text-bad">{t("no_number", { line: problem.line, text: problem.text })}</p>;
    case "not_whole":
      return <p className="text-bad">{t("not_whole", { value: problem.value })}</p>;
    case "too_small":
    case "too_big":
      return <p className="text-bad">{t(problem.code, { value: problem.value, limit: problem.limit })}</p>;
    default:
      return <p className="text-ink-2">{t(problem.code)}</p>;
  }
}

function getInputOptions(form: readonly FormNode[]): InputOption[] {
  return form.flatMap((node) =>
    node.fields.filter((field) => isEditable(field) && getVariationKinds(field).length > 0).map((field) => ({ node, field })),
  );
}

/** The requested input, otherwise a seed, otherwise the first one. */
function findInitialIndex(inputOptions: readonly InputOption[], request: CopiesRequest | undefined): number {
  const requestedIndex = inputOptions.findIndex(({ node, field }) => node.id === request?.nodeId && field.name === request.name);
  const seedIndex = inputOptions.findIndex(({ field }) => getVariationKinds(field)[0] === "random");
  return requestedIndex >= 0 ? requestedIndex : Math.max(0, seedIndex);
}

function getInitialInput(field: FormField | undefined, pendingImages: readonly string[] = []): VariationInput {
  const value = field?.value;
  const text = typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : "";
  const isChoice = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return {
    list: field?.control.kind === "long-text" && text.includes("\n") ? `${text}\n---\n` : text && `${text}\n`,
    from: text,
    to: "",
    step: field ? getDefaultStep(field) : "1",
    count: "4",
    chosen: isChoice ? [value] : [],
    pictures: pendingImages,
  };
}

const MAX_PREVIEWED_COPIES = 6;

type CopiesPreviewProps = {
  name: string;
  values: readonly Literal[];
  /** Texts of this copy that are sent differently from the form. */
  getFilledTexts: (value: Literal, index: number) => readonly FilledText[];
  ownNames?: Readonly<Record<string, string>>;
  hasRandomSeeds: boolean;
};

/** Previews the copies: a summary such as "12 jobs: seed 1 … 12", then one label per copy. */
function CopiesPreview({ name, values, getFilledTexts, ownNames, hasRandomSeeds }: CopiesPreviewProps) {
  const t = useTranslations("run.copies");
  const getName = (value: Literal) => getOwn(ownNames, String(value)) ?? formatValue(value);
  const [firstValue, lastValue] = [values[0], values.at(-1)];
  const visibleValues =
    values.length > MAX_PREVIEWED_COPIES ? [...values.slice(0, MAX_PREVIEWED_COPIES - 2).entries()] : [...values.entries()];
  return (
    <div role="status" className="rounded-md border border-line bg-sunken px-3 py-2">
      <p className="font-semibold">
        {firstValue !== undefined && lastValue !== undefined && values.length > 1
          ? t("preview", { count: values.length, name, first: getName(firstValue), last: getName(lastValue) })
          : t("previewOne", { name, first: firstValue === undefined ? "" : getName(firstValue) })}
      </p>
      <ul className="mt-1 text-sm text-ink-2 tabular-nums">
        {visibleValues.map(([index, value]) => (
          <li key={index}>
            <p className="truncate">{getCopyLabel(name, getName(value), { index, total: values.length })}</p>
            <FilledTexts texts={getFilledTexts(value, index)} />
          </li>
        ))}
        {values.length > MAX_PREVIEWED_COPIES ? <li aria-hidden="true">…</li> : null}
        {values.length > MAX_PREVIEWED_COPIES && lastValue !== undefined ? (
          <li>
            <p className="truncate">{getCopyLabel(name, getName(lastValue), { index: values.length - 1, total: values.length })}</p>
            <FilledTexts texts={getFilledTexts(lastValue, values.length - 1)} />
          </li>
        ) : null}
      </ul>
      {hasRandomSeeds ? <p className="mt-1 text-sm text-ink-3">{t("randomised")}</p> : null}
    </div>
  );
}

function FilledTexts({ texts }: { texts: readonly FilledText[] }) {
  const t = useTranslations("run.copies");
  return texts.map(({ nodeId, name, text }) => (
    <p key={`${nodeId}/${name}`} title={text} className="truncate pl-3 text-ink-3">
      {t("filled", { id: nodeId, input: name, text })}
    </p>
  ));
}
