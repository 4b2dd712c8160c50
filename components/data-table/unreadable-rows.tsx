import { useTranslations } from "next-intl";

/** Says that rows are missing because the service sent them in an unknown shape; the others are shown. */
export function UnreadableRows({ count = 0 }: { count?: number }) {
  const t = useTranslations("common");
  if (count === 0) return null;
  return (
    <p role="status" className="border-b border-line bg-wait-soft px-4 py-1.5 text-wait md:px-5">
      {t("unreadableRows", { count })}
    </p>
  );
}
