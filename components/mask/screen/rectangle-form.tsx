import { useTranslations } from "next-intl";
import { type SubmitEvent, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { clipped, isEmpty, type Rect, type Size, wholeOf } from "../drawing/geometry";

const fields = ["x", "y", "width", "height"] as const;
type Numbers = Record<(typeof fields)[number], string>;

/** For people who do not drag, and for edges that must be exact. */
export function RectangleForm({ size, isBusy, onDraw }: { size: Size; isBusy: boolean; onDraw: (rect: Rect, isErasing: boolean) => void }) {
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
