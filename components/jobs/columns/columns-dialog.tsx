import { Pin, Plus } from "lucide-react";
import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { Button, IconButton } from "@/components/ui/controls/button";
import { Checkbox, Input } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { type CommonInput, findCommonInputs } from "@/lib/contract/jobs/job-inputs";
import { type InputId, MAX_INPUTS } from "@/lib/contract/jobs/job-list";
import { addInput, type ColumnChoice, type ColumnId, isInputId, pinInput, requiredColumns, useColumnName } from "./columns";

type ColumnsDialogProps = {
  choice: ColumnChoice;
  defaultChoice: ColumnChoice;
  jobs: readonly string[];
  connection: string | undefined;
  onChoose: (choice: ColumnChoice) => void;
  onClose: () => void;
};

/** Every change is applied to the list immediately. */
export function ColumnsDialog({ choice, defaultChoice, jobs, connection, onChoose, onClose }: ColumnsDialogProps) {
  const t = useTranslations("jobList.columns");
  const common = useTranslations("common");
  const getColumnName = useColumnName();
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title")}
      actions={
        <>
          <Button onClick={() => onChoose(defaultChoice)}>{t("reset")}</Button>
          <Button tone="primary" onClick={onClose}>
            {common("close")}
          </Button>
        </>
      }
    >
      <ul aria-label={t("list")} className="flex flex-col">
        {choice.order.map((id, index) => (
          <ColumnRow
            key={id}
            id={id}
            name={getColumnName(id)}
            isShown={!choice.hidden.includes(id)}
            isFirst={index === 0}
            isLast={index === choice.order.length - 1}
            onVisibilityChange={(isShown) => onChoose(showColumn(choice, id, isShown))}
            onMove={(offset) => onChoose(moveColumn(choice, id, offset))}
            {...(isInputId(id) && {
              isPinned: choice.pinned.includes(id),
              onPin: (isPinned: boolean) => onChoose(pinInput(choice, id, isPinned)),
              onRemove: () => onChoose(removeInput(choice, id)),
            })}
          />
        ))}
      </ul>
      <fieldset className="mt-3 flex items-center gap-4 border-t border-line pt-3">
        <legend className="sr-only">{t("density")}</legend>
        {([false, true] as const).map((isCompact) => (
          <label key={String(isCompact)} className="inline-flex items-center gap-1.5">
            <input
              type="radio"
              name="density"
              checked={choice.isCompact === isCompact}
              onChange={() => onChoose({ ...choice, isCompact })}
            />
            {t(isCompact ? "compact" : "comfortable")}
          </label>
        ))}
      </fieldset>
      <InputPicker choice={choice} jobIds={jobs} connection={connection} onAdd={(id) => onChoose(addInput(choice, id))} />
    </Dialog>
  );
}

type ColumnRowProps = {
  id: ColumnId;
  name: string;
  isShown: boolean;
  isFirst: boolean;
  isLast: boolean;
  onVisibilityChange: (isShown: boolean) => void;
  onMove: (offset: -1 | 1) => void;
  isPinned?: boolean;
  onPin?: (isPinned: boolean) => void;
  onRemove?: () => void;
};

function ColumnRow({ id, name, isShown, isFirst, isLast, onVisibilityChange, onMove, isPinned, onPin, onRemove }: ColumnRowProps) {
  const t = useTranslations("jobList.columns");
  const isFixed = requiredColumns.includes(id);
  return (
    <li className="flex items-center gap-1 py-0.5">
      <label className="flex min-w-0 flex-1 items-center gap-2 text-ink">
        <Checkbox
          aria-label={t("show", { name })}
          checked={isFixed || isShown}
          disabled={isFixed}
          onChange={(event) => onVisibilityChange(event.currentTarget.checked)}
        />
        <span className="truncate">{name}</span>
      </label>
      {onPin ? (
        <IconButton
          icon={Pin}
          label={t("pin", { name })}
          tone="quiet"
          aria-pressed={isPinned}
          onClick={() => onPin(!isPinned)}
          className={isPinned ? "text-accent" : undefined}
        />
      ) : null}
      {onRemove ? (
        <Button tone="quiet" size="icon" aria-label={t("remove", { name })} onClick={onRemove}>
          ×
        </Button>
      ) : null}
      <Button tone="quiet" size="icon" aria-label={t("up", { name })} aria-disabled={isFirst} onClick={() => onMove(-1)}>
        ↑
      </Button>
      <Button tone="quiet" size="icon" aria-label={t("down", { name })} aria-disabled={isLast} onClick={() => onMove(1)}>
        ↓
      </Button>
    </li>
  );
}

type InputPickerProps = {
  choice: ColumnChoice;
  jobIds: readonly string[];
  connection: string | undefined;
  onAdd: (id: InputId) => void;
};

const MAX_SAMPLED_JOBS = 10;
const MAX_SHOWN_INPUTS = 50;

/** The inputs of the newest jobs on the page, with an example of each. */
function InputPicker({ choice, jobIds, connection, onAdd }: InputPickerProps) {
  const t = useTranslations("jobList.columns");
  const common = useTranslations("common");
  const [searchInput, setSearchInput] = useState("");
  const ids = jobIds.slice(0, MAX_SAMPLED_JOBS);
  const { data: fetchedInputs, error } = useSWR(["common-inputs", connection, ...ids], () => fetchInputs(ids, connection), {
    revalidateOnFocus: false,
  });
  const searchText = searchInput.trim().toLowerCase();
  const matchingInputs = fetchedInputs?.filter(({ name, example }) => `${name} ${example}`.toLowerCase().includes(searchText)) ?? [];
  const isFull = choice.order.filter(isInputId).length >= MAX_INPUTS;
  return (
    <section aria-label={t("inputs")} className="mt-3 border-t border-line pt-3">
      <p className="font-medium text-ink">{t("inputs")}</p>
      <p className="text-sm text-ink-3">{isFull ? t("full", { count: MAX_INPUTS }) : t("inputsHint", { count: ids.length })}</p>
      <Input
        type="search"
        aria-label={t("find")}
        placeholder={t("find")}
        maxLength={200}
        value={searchInput}
        onChange={(event) => setSearchInput(event.currentTarget.value)}
        className="mt-2"
      />
      <ul aria-label={t("inputs")} className="mt-1 flex max-h-56 flex-col overflow-y-auto">
        {matchingInputs.slice(0, MAX_SHOWN_INPUTS).map(({ id, name, jobs: count, example }) => {
          const isShown = choice.order.includes(id) && !choice.hidden.includes(id);
          return (
            <li key={id}>
              <button
                type="button"
                disabled={isShown || (isFull && !choice.order.includes(id))}
                onClick={() => onAdd(id)}
                className="flex w-full items-baseline gap-2 rounded-md px-2 py-1 text-left text-ink enabled:hover:bg-sunken disabled:text-ink-3"
              >
                <span className="shrink-0">{name}</span>
                <span title={example} className="min-w-0 flex-1 truncate text-sm text-ink-3">
                  {example}
                </span>
                <span className="text-sm whitespace-nowrap text-ink-3 tabular-nums">
                  {isShown ? t("shown") : t("seen", { count, total: ids.length })}
                </span>
                <Plus aria-hidden="true" className={isShown ? "invisible size-4 shrink-0" : "size-4 shrink-0 self-center"} />
              </button>
            </li>
          );
        })}
      </ul>
      {fetchedInputs && matchingInputs.length === 0 ? <p role="status">{t("noInputs")}</p> : null}
      {!fetchedInputs && !error ? <p role="status">{common("loading")}</p> : null}
      {error ? (
        <p role="alert" className="text-bad">
          {t("inputsFailed")}
        </p>
      ) : null}
    </section>
  );
}

/** Skips unreadable jobs. Fails only if all of them are unreadable. */
async function fetchInputs(ids: readonly string[], connection: string | undefined): Promise<CommonInput[]> {
  const { fetchJobInputs } = await import("./value-cell");
  const outcomes = await Promise.allSettled(ids.map((id) => fetchJobInputs(id, connection)));
  const jobs = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (jobs.length === 0 && failure) throw failure.reason;
  return findCommonInputs(jobs);
}

export function moveColumn(choice: ColumnChoice, id: ColumnId, offset: -1 | 1): ColumnChoice {
  const index = choice.order.indexOf(id);
  const targetIndex = index + offset;
  if (index < 0 || targetIndex < 0 || targetIndex >= choice.order.length) return choice;
  const order = choice.order.filter((columnId) => columnId !== id);
  order.splice(targetIndex, 0, id);
  return { ...choice, order };
}

export function showColumn(choice: ColumnChoice, id: ColumnId, isShown: boolean): ColumnChoice {
  const hidden = choice.hidden.filter((columnId) => columnId !== id);
  return { ...choice, hidden: isShown ? hidden : [...hidden, id] };
}

export function removeInput(choice: ColumnChoice, id: InputId): ColumnChoice {
  const pinned = choice.pinned.filter((columnId) => columnId !== id);
  return {
    ...choice,
    pinned,
    order: choice.order.filter((columnId) => columnId !== id),
    hidden: choice.hidden.filter((columnId) => columnId !== id),
  };
}
