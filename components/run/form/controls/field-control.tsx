import { useTranslations } from "next-intl";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject } from "@/lib/contract/json/json";
import { type Control, type FormField, getNodeDomId } from "../form-model";
import {
  AppSeedControl,
  BoxControl,
  ChoiceControl,
  ColorControl,
  type ControlProps,
  HexColorControl,
  NumberControl,
  NumberRange,
  SliderControl,
  SwitchControl,
  TextControl,
} from "./basic-controls";
import { MediaControl } from "./media-control";
import { type PictureContext } from "./picture-api";
import { PictureControl } from "./picture-control";

type FieldControlProps = ControlProps & {
  field: FormField;
  nodeTitle: string;
  picture: PictureContext;
  acceptsPaste?: boolean;
  onRunning: (isRunning: boolean) => void;
};

export function FieldControl({ field, nodeTitle, picture, acceptsPaste, onRunning, ...props }: FieldControlProps) {
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
          {writeExactJson(asObject(value)?.__value__ ?? value)}
        </code>
      );
    case "switch":
      return <SwitchControl {...props} />;
    case "choice":
      return <ChoiceControl {...props} options={control.options} labels={control.labels} />;
    case "color":
      return <ColorControl {...props} name={field.name} />;
    case "seed":
      return <AppSeedControl {...props} control={control} />;
    case "number":
      if (control.isSlider) return <SliderControl {...props} name={field.name} control={control} />;
      return (
        <span className="flex flex-wrap items-center gap-x-2.5">
          <NumberControl {...props} integer={control.integer} min={control.min} max={control.max} step={control.step} className="w-36" />
          <NumberRange min={control.min} max={control.max} />
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
        <PictureControl
          {...props}
          {...{ picture, nodeTitle, acceptsPaste, onRunning }}
          options={control.options}
          hasMask={control.hasMask}
        />
      );
    case "long-text":
      return <TextControl {...props} isLong />;
    case "text":
      return <TextControl {...props} />;
  }
}

type Link = Extract<Control, { kind: "link" }>;

/** A link to the node that feeds this input: "from #2 Fit". */
function LinkText({ link }: { link: Link }) {
  const t = useTranslations("run.field");
  const output = link.output > 0 ? (link.outputName ?? t("output", { number: link.output + 1 })) : undefined;
  return (
    <span className="block py-1 text-ink-2">
      {t("from")}{" "}
      <a
        href={`#${encodeURIComponent(getNodeDomId(link.fromId))}`}
        className="text-ink underline decoration-line-strong underline-offset-2 hover:decoration-ink"
      >
        <span className="text-ink-3">#{link.fromId}</span> {link.fromTitle}
      </a>
      {output ? <span className="text-ink-3"> · {output}</span> : null}
    </span>
  );
}
