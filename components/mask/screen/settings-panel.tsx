import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, type SubmitEvent, useId, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Button, chipStyle } from "@/components/ui/controls/button";
import { CheckField, InputField, Options, Select } from "@/components/ui/controls/fields";
import { fullRect, intersect, isEmpty, type Rect, type Size } from "../drawing/coverage";
import { type Change, colours, getMaxDiameter, looks, type Settings } from "./settings";

type SliderProps = {
  label: string;
  value: number;
  min: number;
  max: number;
  step?: number;
  /** The formatted value. */
  displayValue: string;
  title?: string;
  /** Uses a logarithmic scale. */
  isLogarithmic?: boolean;
  onChange: (value: number) => void;
};

const SLIDER_STEPS = 200;

function Slider({ label, value, min, max, step = 1, displayValue, title, isLogarithmic = false, onChange }: SliderProps) {
  const id = useId();
  const ratio = max / min;
  const position = isLogarithmic ? Math.round((Math.log(value / min) / Math.log(ratio)) * SLIDER_STEPS) : value;
  return (
    <div className="grid grid-cols-[1fr_auto] items-center gap-x-2">
      <label htmlFor={id}>{label}</label>
      <output htmlFor={id} className="text-ink-2">
        {displayValue}
      </output>
      <input
        id={id}
        type="range"
        min={isLogarithmic ? 0 : min}
        max={isLogarithmic ? SLIDER_STEPS : max}
        step={isLogarithmic ? 1 : step}
        value={position}
        aria-valuetext={displayValue}
        title={title}
        onChange={({ target }) => onChange(isLogarithmic ? min * ratio ** (Number(target.value) / SLIDER_STEPS) : Number(target.value))}
        className="col-span-2 h-6 w-full"
      />
    </div>
  );
}

type SettingsPanelProps = SettingsProps & { isBusy: boolean; isOpen: boolean; onRectangle: (rect: Rect, isErasing: boolean) => void };

/** The settings, next to the drawing on wide screens and over its lower part on narrow ones. */
export function SettingsPanel({ size, settings, isBusy, isOpen, onChange, onRectangle }: SettingsPanelProps) {
  const t = useTranslations("masks");
  return (
    <aside
      aria-label={t("panel.label")}
      className={cn(
        "w-full shrink-0 overflow-y-auto border-line bg-bg max-lg:order-2 max-lg:max-h-[42dvh] max-lg:border-t lg:w-[256px] lg:border-l",
        !isOpen && "max-lg:hidden",
      )}
    >
      <PanelSection title={t(`tool.${settings.tool}`)}>
        <ToolSettings size={size} settings={settings} onChange={onChange} />
      </PanelSection>
      <PanelSection title={t("panel.view")}>
        <ViewSettings size={size} settings={settings} onChange={onChange} />
      </PanelSection>
      <PanelSection title={t("numbers.title")}>
        <RectangleForm size={size} isBusy={isBusy} onDraw={onRectangle} />
      </PanelSection>
    </aside>
  );
}

function PanelSection({ title, children }: { title: string; children: ReactNode }) {
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

/** Returns a function that adds the shortcut to a setting's tooltip. */
function useKeyTooltip(): (name: string, key: string) => string {
  const t = useTranslations("masks");
  return (name, key) => t("toolKey", { name, key });
}

type SettingsProps = { size: Size; settings: Settings; onChange: (change: Change) => void };

function ToolSettings({ size, settings, onChange }: SettingsProps) {
  const t = useTranslations("masks.panel");
  const getTooltip = useKeyTooltip();
  const locale = useLocale();
  const { tool, diameter, hardness, followsPressure, isErasing } = settings;
  if (tool === "brush" || tool === "eraser") {
    return (
      <>
        <Slider
          label={t("size")}
          isLogarithmic
          min={1}
          max={getMaxDiameter(size)}
          value={diameter}
          displayValue={`${diameter.toLocaleString(locale)} px`}
          title={getTooltip(t("size"), "[ ]")}
          onChange={(value) => onChange({ diameter: value })}
        />
        <Slider
          label={t("hardness")}
          min={0}
          max={1}
          step={0.05}
          value={hardness}
          displayValue={hardness.toLocaleString(locale, { style: "percent" })}
          title={getTooltip(t("hardness"), "{ }")}
          onChange={(value) => onChange({ hardness: value })}
        />
        <CheckField
          label={t("pressure")}
          checked={followsPressure}
          onChange={({ target }) => onChange({ followsPressure: target.checked })}
        />
      </>
    );
  }
  return (
    <>
      <p className="text-ink-2">{t(`areaText.${tool}`)}</p>
      {tool === "hand" ? null : (
        <div role="group" aria-label={t("mode")} className="flex gap-1.5">
          {[false, true].map((shouldErase) => (
            <button
              key={String(shouldErase)}
              type="button"
              aria-pressed={isErasing === shouldErase}
              title={getTooltip(t(shouldErase ? "erase" : "paint"), "X")}
              onClick={() => onChange({ isErasing: shouldErase })}
              className={chipStyle(isErasing === shouldErase)}
            >
              {t(shouldErase ? "erase" : "paint")}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

function ViewSettings({ settings, onChange }: SettingsProps) {
  const t = useTranslations("masks.panel");
  const getTooltip = useKeyTooltip();
  const locale = useLocale();
  const { look, colour, opacity, isShown } = settings;
  return (
    <>
      <CheckField
        label={t("shown")}
        title={getTooltip(t("shown"), "M")}
        checked={isShown}
        onChange={({ target }) => onChange({ isShown: target.checked })}
      />
      <Choice
        label={t("look")}
        title={getTooltip(t("look"), "V")}
        value={look}
        options={looks}
        getName={(value) => t(`looks.${value}`)}
        onChoose={(value) => onChange({ look: value })}
      />
      {look === "overlay" ? (
        <>
          <Choice
            label={t("colour")}
            value={colour}
            options={colours}
            getName={(value) => t(`colours.${value}`)}
            onChoose={(value) => onChange({ colour: value })}
          />
          <Slider
            label={t("opacity")}
            min={0.1}
            max={1}
            step={0.05}
            value={opacity}
            displayValue={opacity.toLocaleString(locale, { style: "percent" })}
            onChange={(value) => onChange({ opacity: value })}
          />
        </>
      ) : null}
    </>
  );
}

type ChoiceProps<T extends string> = {
  label: string;
  title?: string;
  value: T;
  options: readonly T[];
  getName: (option: T) => string;
  onChoose: (option: T) => void;
};

function Choice<T extends string>({ label, title, value, options, getName, onChoose }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div className="flex items-center justify-between gap-2">
      <label htmlFor={id}>{label}</label>
      <Select
        id={id}
        title={title}
        value={value}
        onChange={({ target }) => onChoose(options[target.selectedIndex] ?? value)}
        className="max-w-[150px]"
      >
        <Options of={options.map((option) => [option, getName(option)])} />
      </Select>
    </div>
  );
}

const rectangleFields = ["x", "y", "width", "height"] as const;

/** Draws a rectangle from its coordinates, for users who can't drag, and for exact edges. */
function RectangleForm({ size, isBusy, onDraw }: { size: Size; isBusy: boolean; onDraw: (rect: Rect, isErasing: boolean) => void }) {
  const t = useTranslations("masks.numbers");
  const [isOutside, setOutside] = useState(false);

  function draw(form: HTMLFormElement | null, isErasing: boolean): void {
    if (!form?.reportValidity()) return;
    const data = new FormData(form);
    const [left = 0, top = 0, width = 0, height = 0] = rectangleFields.map((name) => Number(data.get(name)));
    const rect = intersect({ left, top, right: left + width, bottom: top + height }, fullRect(size));
    setOutside(isEmpty(rect));
    if (!isEmpty(rect)) onDraw(rect, isErasing);
  }
  return (
    <form
      aria-label={t("title")}
      onSubmit={(event: SubmitEvent<HTMLFormElement>) => {
        event.preventDefault();
        // The dialog may be inside a form, which must not be submitted.
        event.stopPropagation();
        draw(event.currentTarget, false);
      }}
    >
      <div className="grid grid-cols-2 gap-2">
        {rectangleFields.map((name) => (
          <InputField
            key={name}
            label={t(name)}
            name={name}
            type="number"
            inputMode="numeric"
            // `min` is also the base of the steps. Without it, the default value would be the base.
            min={name === "width" || name === "height" ? 1 : 0}
            step={1}
            defaultValue={name === "width" || name === "height" ? size[name] : 0}
            required
            className="tabular-nums"
          />
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
        <Button busy={isBusy} onClick={({ currentTarget: { form } }) => draw(form, true)} className="flex-1">
          {t("erase")}
        </Button>
      </div>
    </form>
  );
}
