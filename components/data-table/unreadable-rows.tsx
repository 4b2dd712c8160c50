import { useTranslations } from "next-intl";

/** What is missing from a list because the service sent it in an unknown shape: the others are shown, and this says so. */
export function UnreadableRows({ count = 0 }: { count?: number }) {
  const t = useTranslations("common");
  if (count === 0) return null;
  return (
    <p role="status" className="border-b border-line bg-wait-soft px-4 py-1.5 text-wait md:px-5">
      {t("unreadableRows", { count })}
    </p>
  );
}
