import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useId } from "react";
import { cn } from "@/components/ui/cn";
import { Checkbox } from "@/components/ui/controls/checkbox";
import { chipStyle } from "@/components/ui/controls/chip";
import { Select } from "@/components/ui/controls/select";
import { type Rect, type Size } from "../drawing/geometry";
import { RectangleForm } from "./rectangle-form";
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
