import { useId } from "react";

type SliderProps = {
  label: string;
  value: number;
  least: number;
  most: number;
  step?: number;
  /** What the number says to people. */
  shown: string;
  /** Its tooltip. */
  title?: string;
  /** Small values need as much room as large ones. */
  isCurved?: boolean;
  onChange: (value: number) => void;
};

const STEPS = 200;

export function Slider({ label, value, least, most, step = 1, shown, title, isCurved = false, onChange }: SliderProps) {
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
