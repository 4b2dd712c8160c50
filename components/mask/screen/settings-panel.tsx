import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, type SubmitEvent, useId, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Button, chipStyle } from "@/components/ui/controls/button";
import { Checkbox, Input, Select } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { clipped, isEmpty, type Rect, type Size, wholeOf } from "../drawing/geometry";
import { type Change, colours, largestBrush, type LookKind, looks, type OverlayColour, type Settings } from "./settings";

type SliderProps = {
  label: string;
  value: number;
  least: number;
  most: number;
  step?: number;
  /** The value as shown to people. */
  shown: string;
  title?: string;
  /** The slider gives small values as much room as large ones. */
  isCurved?: boolean;
  onChange: (value: number) => void;
};

const STEPS = 200;

function Slider({ label, value, least, most, step = 1, shown, title, isCurved = false, onChange }: SliderProps) {
  const id = useId();
  const ratio = most / least;
  const place = isCurved ? Math.round((Math.log(value / least) / Math.log(ratio)) * STEPS) : value;
  return (
    <div className="grid grid-cols-[1fr_auto] items-center gap-x-2">
      <label htmlFor={id}>{label}</label>
      <output htmlFor={id} className="text-ink-2">
        {shown}
      </output>
      <input
        id={id}
        type="range"
        min={isCurved ? 0 : least}
        max={isCurved ? STEPS : most}
        step={isCurved ? 1 : step}
        value={place}
        aria-valuetext={shown}
        title={title}
        onChange={({ target }) => onChange(isCurved ? least * ratio ** (Number(target.value) / STEPS) : Number(target.value))}
        className="col-span-2 h-6 w-full"
      />
    </div>
  );
}

type SettingsPanelProps = {
  size: Size;
  settings: Settings;
  isBusy: boolean;
  isOpen: boolean;
  onChange: (change: Change) => void;
  onRectangle: (rect: Rect, isErasing: boolean) => void;
};

/** Beside the drawing on wide screens; on narrow ones it opens over the drawing's lower part. */
export function SettingsPanel({ size, settings, isBusy, isOpen, onChange, onRectangle }: SettingsPanelProps) {
  const t = useTranslations("masks.panel");
  return (
    <aside
      aria-label={t("label")}
      className={cn(
        "w-full shrink-0 overflow-y-auto border-line bg-bg max-lg:order-2 max-lg:max-h-[42dvh] max-lg:border-t lg:w-[256px] lg:border-l",
        !isOpen && "max-lg:hidden",
      )}
    >
      <ToolSettings size={size} settings={settings} onChange={onChange} />
      <ViewSettings settings={settings} onChange={onChange} />
      <Part title={useTranslations("masks.numbers")("title")}>
        <RectangleForm size={size} isBusy={isBusy} onDraw={onRectangle} />
      </Part>
    </aside>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
      <h2 id={id} className="font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}

/** A tooltip that names the setting's key. */
function useKeyed(): (name: string, key: string) => string {
  const t = useTranslations("masks");
  return (name, key) => t("toolKey", { name, key });
}

type SettingsProps = { settings: Settings; onChange: (change: Change) => void };

function ToolSettings({ size, settings, onChange }: SettingsProps & { size: Size }) {
  const t = useTranslations("masks.panel");
  const names = useTranslations("masks.tool");
  const keyed = useKeyed();
  const locale = useLocale();
  const { tool, diameter, hardness, followsPressure, isErasing } = settings;
  if (tool === "brush" || tool === "eraser") {
    return (
      <Part title={names(tool)}>
        <Slider
          label={t("size")}
          isCurved
          least={1}
          most={largestBrush(size)}
          value={diameter}
          shown={`${diameter.toLocaleString(locale)} px`}
          title={keyed(t("size"), "[ ]")}
          onChange={(next) => onChange({ diameter: next })}
        />
        <Slider
          label={t("hardness")}
          least={0}
          most={1}
          step={0.05}
          value={hardness}
          shown={hardness.toLocaleString(locale, { style: "percent" })}
          title={keyed(t("hardness"), "{ }")}
          onChange={(next) => onChange({ hardness: next })}
        />
        <label className="flex items-center gap-2">
          <Checkbox checked={followsPressure} onChange={({ target }) => onChange({ followsPressure: target.checked })} />
          {t("pressure")}
        </label>
      </Part>
    );
  }
  return (
    <Part title={names(tool)}>
      <p className="text-ink-2">{t(`areaText.${tool}`)}</p>
      {tool === "hand" ? null : (
        <div role="group" aria-label={t("mode")} className="flex gap-1.5">
          {[false, true].map((erases) => (
            <button
              key={String(erases)}
              type="button"
              aria-pressed={isErasing === erases}
              title={keyed(t(erases ? "erase" : "paint"), "X")}
              onClick={() => onChange({ isErasing: erases })}
              className={chipStyle(isErasing === erases)}
            >
              {t(erases ? "erase" : "paint")}
            </button>
          ))}
        </div>
      )}
    </Part>
  );
}

function ViewSettings({ settings, onChange }: SettingsProps) {
  const t = useTranslations("masks.panel");
  const keyed = useKeyed();
  const locale = useLocale();
  const { look, colour, opacity, isShown } = settings;
  const lookId = useId();
  const colourId = useId();
  return (
    <Part title={t("view")}>
      <label className="flex items-center gap-2" title={keyed(t("shown"), "M")}>
        <Checkbox checked={isShown} onChange={({ target }) => onChange({ isShown: target.checked })} />
        {t("shown")}
      </label>
      <div className="flex items-center justify-between gap-2">
        <label htmlFor={lookId}>{t("look")}</label>
        <Select
          id={lookId}
          title={keyed(t("look"), "V")}
          value={look}
          onChange={({ target }) => onChange({ look: looks.find((one): one is LookKind => one === target.value) ?? "overlay" })}
          className="max-w-[150px]"
        >
          {looks.map((one) => (
            <option key={one} value={one}>
              {t(`looks.${one}`)}
            </option>
          ))}
        </Select>
      </div>
      {look === "overlay" ? (
        <>
          <div className="flex items-center justify-between gap-2">
            <label htmlFor={colourId}>{t("colour")}</label>
            <Select
              id={colourId}
              value={colour}
              onChange={({ target }) => onChange({ colour: colours.find((one): one is OverlayColour => one === target.value) ?? "red" })}
            >
              {colours.map((one) => (
                <option key={one} value={one}>
                  {t(`colours.${one}`)}
                </option>
              ))}
            </Select>
          </div>
          <Slider
            label={t("opacity")}
            least={0.1}
            most={1}
            step={0.05}
            value={opacity}
            shown={opacity.toLocaleString(locale, { style: "percent" })}
            onChange={(next) => onChange({ opacity: next })}
          />
        </>
      ) : null}
    </Part>
  );
}

const fields = ["x", "y", "width", "height"] as const;
type Numbers = Record<(typeof fields)[number], string>;

/** For people who do not drag, and for edges that must be exact. */
function RectangleForm({ size, isBusy, onDraw }: { size: Size; isBusy: boolean; onDraw: (rect: Rect, isErasing: boolean) => void }) {
  const t = useTranslations("masks.numbers");
  const [numbers, setNumbers] = useState<Numbers>({ x: "0", y: "0", width: String(size.width), height: String(size.height) });
  const [isOutside, setOutside] = useState(false);

  function draw(isErasing: boolean): void {
    const [left, top] = [Number(numbers.x), Number(numbers.y)];
    const rect = clipped({ left, top, right: left + Number(numbers.width), bottom: top + Number(numbers.height) }, wholeOf(size));
    setOutside(isEmpty(rect));
    if (!isEmpty(rect)) onDraw(rect, isErasing);
  }
  return (
    <form
      aria-label={t("title")}
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        // The dialog may be inside a form, which must not be submitted.
        event.stopPropagation();
        draw(false);
      }}
    >
      <div className="grid grid-cols-2 gap-2">
        {fields.map((name) => (
          <FormField key={name} label={t(name)}>
            {(control) => (
              <Input
                {...control}
                type="number"
                inputMode="numeric"
                // `min` is also the base of the steps: without it, any earlier value of the field would count as a whole step.
                min={name === "width" || name === "height" ? 1 : 0}
                step={1}
                value={numbers[name]}
                onChange={({ target }) => setNumbers((before) => ({ ...before, [name]: target.value }))}
                required
                className="tabular-nums"
              />
            )}
          </FormField>
        ))}
      </div>
      {isOutside ? (
        <p role="alert" className="mt-1.5 text-sm text-bad">
          {t("outside")}
        </p>
      ) : null}
      <div className="mt-2 flex gap-2">
        <Button type="submit" busy={isBusy} className="flex-1">
          {t("paint")}
        </Button>
        <Button busy={isBusy} onClick={({ currentTarget: { form } }) => void (form?.reportValidity() && draw(true))} className="flex-1">
          {t("erase")}
        </Button>
      </div>
    </form>
  );
}
