import { useTranslations } from "next-intl";

/** Says which bad values of the address were ignored, as silently showing another list would mislead. */
export function IgnoredValues({ list }: { list: readonly string[] }) {
  const t = useTranslations("common");
  if (list.length === 0) return null;
  return (
    <p role="status" className="border-b border-line bg-wait-soft px-4 py-2 text-wait md:px-5">
      {t("ignored", { list: list.join(", ") })}
    </p>
  );
}
