import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { InputField } from "@/components/ui/controls/form-field";
import { ConfirmDialog } from "@/components/ui/dialog";
import { selectedTimeZone } from "@/components/ui/time/use-time-format";

const DAY_MS = 24 * 60 * 60_000;

/** The date in the user's time zone, in the format of a date field. */
function toDay(ms: number, timeZone = selectedTimeZone()): string {
  // The Swedish date format is the ISO format.
  return new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(ms);
}

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/** When a day starts in the user's time zone; if clocks skip midnight, the first moment after it. */
function startOfDay(day: string, timeZone = selectedTimeZone()): number {
  const asUtc = Date.parse(`${day}T00:00:00Z`);
  // Searches quarter hours within fifteen hours of UTC, which covers every time zone.
  const QUARTER_MS = 15 * 60_000;
  let low = -15 * 4;
  let high = 15 * 4;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (toDay(asUtc + middle * QUARTER_MS, timeZone) >= day) high = middle;
    else low = middle + 1;
  }
  return asUtc + low * QUARTER_MS;
}

type DatesDialogProps = {
  from: number | undefined;
  to: number | undefined;
  onClose: () => void;
  onChoose: (range: { from: number | undefined; to: number | undefined }) => void;
};

/** Chooses a range of whole days in the user's time zone. */
export function DatesDialog({ from, to, onClose, onChoose }: DatesDialogProps) {
  const t = useTranslations("jobSearch.dateDialog");
  const form = useId();
  const [first, setFirst] = useState(from === undefined ? "" : toDay(from));
  const [last, setLast] = useState(to === undefined ? "" : toDay(to - 1));
  const isReversed = first !== "" && last !== "" && last < first;
  function choose(event: FormEvent) {
    event.preventDefault();
    if (isReversed) return;
    onChoose({ from: first === "" ? undefined : startOfDay(first), to: last === "" ? undefined : startOfDay(nextDay(last)) });
  }
  return (
    <ConfirmDialog isOpen onClose={onClose} title={t("title")} tone="primary" form={form} label={t("show")} isDisabled={isReversed}>
      <form id={form} onSubmit={choose} className="flex flex-col gap-3">
        <InputField label={t("from")} type="date" value={first} onChange={(event) => setFirst(event.currentTarget.value)} />
        <InputField
          label={t("to")}
          hint={t("hint")}
          error={isReversed ? t("order") : undefined}
          type="date"
          value={last}
          onChange={(event) => setLast(event.currentTarget.value)}
        />
      </form>
    </ConfirmDialog>
  );
}
