import { useTranslations } from "next-intl";
import { own } from "@/lib/contract/json/own";
import { type FilledText } from "@/lib/contract/nodes/fill-texts";
import { labelOf, type Literal, shownValue } from "./variation";

const SHOWN = 6;

type CopiesPreviewProps = {
  name: string;
  values: readonly Literal[];
  /** Texts of this copy that are sent differently from what the form shows. */
  filledFor: (value: Literal, index: number) => readonly FilledText[];
  ownNames?: Readonly<Record<string, string>>;
  hasRandomised: boolean;
};

/** What will be sent, in one line of labels: "12 jobs: seed 1 … 12". */
export function CopiesPreview({ name, values, filledFor, ownNames, hasRandomised }: CopiesPreviewProps) {
  const t = useTranslations("run.copies");
  const nameOf = (value: Literal) => own(ownNames, String(value)) ?? shownValue(value);
  const [first, last] = [values[0], values.at(-1)];
  const shown = values.length > SHOWN ? [...values.slice(0, SHOWN - 2).entries()] : [...values.entries()];
  return (
    <div role="status" className="rounded-md border border-line bg-sunken px-3 py-2">
      <p className="font-semibold">
        {first !== undefined && last !== undefined && values.length > 1
          ? t("preview", { count: values.length, name, first: nameOf(first), last: nameOf(last) })
          : t("previewOne", { name, first: first === undefined ? "" : nameOf(first) })}
      </p>
      <ul className="mt-1 text-sm text-ink-2 tabular-nums">
        {shown.map(([index, value]) => (
          <li key={index}>
            <p className="truncate">{labelOf(name, nameOf(value), { index, total: values.length })}</p>
            <Filled texts={filledFor(value, index)} />
          </li>
        ))}
        {values.length > SHOWN ? <li aria-hidden="true">…</li> : null}
        {values.length > SHOWN && last !== undefined ? (
          <li>
            <p className="truncate">{labelOf(name, nameOf(last), { index: values.length - 1, total: values.length })}</p>
            <Filled texts={filledFor(last, values.length - 1)} />
          </li>
        ) : null}
      </ul>
      {hasRandomised ? <p className="mt-1 text-sm text-ink-3">{t("randomised")}</p> : null}
    </div>
  );
}

function Filled({ texts }: { texts: readonly FilledText[] }) {
  const t = useTranslations("run.copies");
  return texts.map(({ nodeId, name, text }) => (
    <p key={`${nodeId}/${name}`} title={text} className="truncate pl-3 text-ink-3">
      {t("filled", { id: nodeId, input: name, text })}
    </p>
  ));
}
