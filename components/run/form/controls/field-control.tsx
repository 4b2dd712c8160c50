import { useTranslations } from "next-intl";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { Select } from "@/components/ui/controls/select";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, objectOf } from "@/lib/contract/json/json";
import { boxEdges, type ChoiceValue, type Limit } from "@/lib/contract/nodes/input-spec";
import { nodeDomId } from "../field-ids";
import { type Control, type FormField } from "../form-model";
import { ColorControl, HexColorControl } from "./color-control";
import { type ControlProps } from "./control-props";
import { MediaControl } from "./media-control";
import { NumberControl } from "./number-control";
import { type PictureContext } from "./picture-context";
import { PictureControl } from "./picture-control";
import { TextControl } from "./text-control";

type FieldControlProps = ControlProps & {
  field: FormField;
  nodeTitle: string;
  picture: PictureContext;
  takesPaste?: boolean;
  onRunning: (isRunning: boolean) => void;
};

export function FieldControl({ field, nodeTitle, picture, takesPaste, onRunning, ...props }: FieldControlProps) {
  const t = useTranslations("run.field");
  const { control, value } = field;
  switch (control.kind) {
    case "link":
      return <LinkText link={control} />;
    case "unconnected":
      return <span className="block py-1 text-ink-3">{t("notConnected")}</span>;
    case "fixed":
      return (
        <code id={props.id} title={t("fixed")} className="line-clamp-6 py-1 font-mono text-sm break-words text-ink-2">
          {writeExactJson(objectOf(value)?.__value__ ?? value)}
        </code>
      );
    case "switch":
      return <SwitchControl {...props} />;
    case "choice":
      return <ChoiceControl {...props} options={control.options} labels={control.labels} />;
    case "color":
      return <ColorControl {...props} name={field.name} />;
    case "number":
      return (
        <span className="flex flex-wrap items-center gap-x-2.5">
          <NumberControl {...props} integer={control.integer} min={control.min} max={control.max} step={control.step} className="w-36" />
          <Range min={control.min} max={control.max} />
        </span>
      );
    case "hex-color":
      return <HexColorControl {...props} name={field.name} />;
    case "box":
      return <BoxControl {...props} name={field.name} />;
    case "media":
      return <MediaControl {...props} media={control.media} options={control.options} picture={picture} onRunning={onRunning} />;
    case "image":
      return (
        <PictureControl {...props} {...{ picture, nodeTitle, takesPaste, onRunning }} options={control.options} hasMask={control.hasMask} />
      );
    case "long-text":
      return <TextControl {...props} isLong />;
    case "text":
      return <TextControl {...props} />;
  }
}

function SwitchControl({ value, onChange, ...rest }: ControlProps) {
  return (
    <span className="flex h-[30px] items-center">
      <Checkbox {...rest} checked={value === true} onChange={({ target }) => onChange(target.checked)} />
    </span>
  );
}

/** Shows only real limits: catalogues use 2^31 and 2^64 for "none". */
function Range({ min, max }: { min?: Limit; max?: Limit }) {
  const t = useTranslations("run.field");
  const isBounded = (limit: Limit | undefined): limit is number => typeof limit === "number" && Math.abs(limit) < 2 ** 31 - 1;
  const words =
    isBounded(min) && isBounded(max)
      ? t("range", { min, max })
      : isBounded(min)
        ? t("atLeast", { min })
        : isBounded(max)
          ? t("atMost", { max })
          : undefined;
  return words ? <span className="text-sm whitespace-nowrap text-ink-3">{words}</span> : null;
}

type Link = Extract<Control, { kind: "link" }>;

/** "from #2 Fit": the node that feeds this input, as a link to it. */
function LinkText({ link }: { link: Link }) {
  const t = useTranslations("run.field");
  const output = link.output > 0 ? (link.outputName ?? t("output", { number: link.output + 1 })) : undefined;
  return (
    <span className="block py-1 text-ink-2">
      {t("from")}{" "}
      <a
        href={`#${encodeURIComponent(nodeDomId(link.fromId))}`}
        className="text-ink underline decoration-line-strong underline-offset-2 hover:decoration-ink"
      >
        <span className="text-ink-3">#{link.fromId}</span> {link.fromTitle}
      </a>
      {output ? <span className="text-ink-3"> · {output}</span> : null}
    </span>
  );
}

/** Options are identified by their index, so that the number 2 stays a number and does not become the text "2". */
function ChoiceControl({
  value,
  options,
  labels,
  onChange,
  ...rest
}: ControlProps & { options: readonly ChoiceValue[]; labels?: readonly string[] }) {
  const t = useTranslations("run.field");
  const index = options.findIndex((option) => option === value);
  const isAbsent = value === undefined || value === "";
  return (
    <Select {...rest} value={String(index)} onChange={({ target }) => onChange(options[Number(target.value)])} className="max-w-full">
      {index < 0 ? (
        <option value="-1" disabled={isAbsent}>
          {isAbsent ? t("noChoice") : t("otherChoice", { value: String(value) })}
        </option>
      ) : null}
      {options.map((option, place) => (
        <option key={place} value={place}>
          {labels?.[place] ?? String(option)}
        </option>
      ))}
    </Select>
  );
}

/** A rectangle in pixels, as four numbers; other fields that a service stores in it are kept. */
function BoxControl({ id, name, value, onChange, className: _, ...rest }: ControlProps & { name: string }) {
  const t = useTranslations("run.field.box");
  const box = isObject(value) ? value : {};
  return (
    <span role="group" aria-label={name} className="flex flex-wrap gap-x-3 gap-y-1.5">
      {boxEdges.map((edge, place) => (
        <label key={edge} className="flex items-center gap-1.5 text-ink-2">
          {t(edge)}
          <NumberControl
            {...rest}
            id={place === 0 ? id : `${id}-${edge}`}
            value={box[edge]}
            integer
            onChange={(changed) => onChange({ ...box, [edge]: changed })}
            className="w-20"
          />
        </label>
      ))}
    </span>
  );
}
