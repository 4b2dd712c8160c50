import { useTranslations } from "next-intl";
import { Button } from "@/components/ui/controls/button";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { Dialog } from "@/components/ui/dialog";
import { alwaysShown, type ColumnChoice, type ColumnId, isValueId, MOST_VALUES, type ValueId } from "./column-choice";
import { useColumnName } from "./use-column-choice";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";

type ColumnsDialogProps = { choice: ColumnChoice; usual: ColumnChoice; onChoose: (choice: ColumnChoice) => void; onClose: () => void };

/** Every change is stored at once and visible in the list behind. */
export function ColumnsDialog({ choice, usual, onChoose, onClose }: ColumnsDialogProps) {
  const t = useTranslations("jobs.columns");
  const common = useTranslations("common");
  const nameOf = useColumnName(choice);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title")}
      actions={
        <>
          <Button onClick={() => onChoose(usual)}>{t("reset")}</Button>
          <Button tone="primary" onClick={onClose}>
            {common("close")}
          </Button>
        </>
      }
    >
      <ul aria-label={t("list")} className="flex flex-col">
        {choice.order.map((id, index) => (
          <ColumnLine
            key={id}
            id={id}
            name={nameOf(id)}
            isShown={!choice.hidden.includes(id)}
            isFirst={index === 0}
            isLast={index === choice.order.length - 1}
            onShow={(isShown) => onChoose(showColumn(choice, id, isShown))}
            onMove={(by) => onChoose(moveColumn(choice, id, by))}
            onRemove={isValueId(id) ? () => onChoose(removeValue(choice, id)) : undefined}
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
      <ValueForm
        isFull={choice.order.filter(isValueId).length >= MOST_VALUES}
        onAdd={({ node, input, label }) => onChoose(addValue(choice, node, input, label))}
      />
    </Dialog>
  );
}

type ColumnLineProps = {
  id: ColumnId;
  name: string;
  isShown: boolean;
  isFirst: boolean;
  isLast: boolean;
  onShow: (isShown: boolean) => void;
  onMove: (by: -1 | 1) => void;
  onRemove?: () => void;
};

function ColumnLine({ id, name, isShown, isFirst, isLast, onShow, onMove, onRemove }: ColumnLineProps) {
  const t = useTranslations("jobs.columns");
  const isFixed = alwaysShown.includes(id);
  return (
    <li className="flex items-center gap-1 py-0.5">
      <label className="flex min-w-0 flex-1 items-center gap-2 text-ink">
        <Checkbox
          aria-label={t("show", { name })}
          checked={isFixed || isShown}
          disabled={isFixed}
          onChange={(event) => onShow(event.currentTarget.checked)}
        />
        <span className="truncate">{name}</span>
      </label>
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

type ValueFormProps = { isFull: boolean; onAdd: (value: { node: string; input: string; label: string }) => void };

/** Names an input of a node, to give it a column. */
function ValueForm({ isFull, onAdd }: ValueFormProps) {
  const t = useTranslations("jobs.columns");
  return (
    <form
      className="mt-3 border-t border-line pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        const [node = "", input = "", label = ""] = ["node", "input", "label"].map((name) => String(data.get(name) ?? "").trim());
        if (node === "" || input === "" || isFull) return;
        onAdd({ node, input, label });
        event.currentTarget.reset();
      }}
    >
      <p className="font-medium text-ink">{t("value")}</p>
      <p className="text-sm text-ink-3">{t("valueHint")}</p>
      <div className="mt-2 grid grid-cols-[80px_1fr_1fr] gap-2">
        {(["node", "input", "label"] as const).map((name) => (
          <FormField key={name} label={t(name)}>
            {(control) => (
              <Input {...control} name={name} required={name !== "label"} maxLength={name === "label" ? 60 : 100} autoComplete="off" />
            )}
          </FormField>
        ))}
      </div>
      <Button type="submit" disabled={isFull} className="mt-2">
        {t("add")}
      </Button>
    </form>
  );
}

/** Moves the column one step up or down, within the ends. */
export function moveColumn(choice: ColumnChoice, id: ColumnId, by: -1 | 1): ColumnChoice {
  const at = choice.order.indexOf(id);
  const to = at + by;
  if (at < 0 || to < 0 || to >= choice.order.length) return choice;
  const order = choice.order.filter((each) => each !== id);
  order.splice(to, 0, id);
  return { ...choice, order };
}

export function showColumn(choice: ColumnChoice, id: ColumnId, isShown: boolean): ColumnChoice {
  const hidden = choice.hidden.filter((each) => each !== id);
  return { ...choice, hidden: isShown ? hidden : [...hidden, id] };
}

export function addValue(choice: ColumnChoice, node: string, input: string, label: string): ColumnChoice {
  const id = valueIdOf(node, input);
  const known = choice.order.includes(id);
  if (!known && choice.order.filter(isValueId).length >= MOST_VALUES) return choice;
  const labels = label ? { ...choice.labels, [id]: label } : choice.labels;
  return showColumn({ ...choice, labels, order: known ? choice.order : [...choice.order, id] }, id, true);
}

export function removeValue(choice: ColumnChoice, id: ValueId): ColumnChoice {
  return { ...choice, order: choice.order.filter((each) => each !== id), hidden: choice.hidden.filter((each) => each !== id) };
}

export function valueIdOf(node: string, input: string): ValueId {
  return `input:${encodeURIComponent(node)}:${encodeURIComponent(input)}`;
}
