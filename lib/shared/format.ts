// Formats sizes. The locale is a parameter, so that server and browser return the same text.

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

export function formatBytes(bytes: number, locale = "en"): string {
  if (!Number.isFinite(bytes) || bytes < 0) return "–";
  let value = bytes;
  let unit = 0;
  // 999.9 kB would be written "1,000 kB", so the next unit is used if rounding reaches it.
  while (unit < byteUnits.length - 1 && Math.round(value) >= 1000) {
    value /= 1000;
    unit++;
  }
  const maximumFractionDigits = unit === 0 || value >= 100 ? 0 : 1;
  return getFormatter(locale, unit, maximumFractionDigits).format(value);
}

/** Cached, because creating a formatter is slow. */
const formatters = new Map<string, Intl.NumberFormat>();

function getFormatter(locale: string, unit: number, maximumFractionDigits: number): Intl.NumberFormat {
  const key = `${locale} ${unit} ${maximumFractionDigits}`;
  const formatter = formatters.get(key);
  if (formatter) return formatter;
  // The short form of a byte has no plural: "17 byte".
  const unitDisplay = unit === 0 ? "long" : "short";
  const numberFormat = new Intl.NumberFormat(locale, { style: "unit", unit: byteUnits[unit], unitDisplay, maximumFractionDigits });
  formatters.set(key, numberFormat);
  return numberFormat;
}
