import Link from "next/link";
import { getTranslations } from "next-intl/server";
import { buttonStyle } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";

export default async function NotFound() {
  const t = await getTranslations("frame.notFound");
  return (
    <main className="grid min-h-[60dvh] place-items-center">
      <EmptyState
        title={
          <span role="heading" aria-level={1}>
            {t("title")}
          </span>
        }
        text={t("text")}
        action={
          <Link href="/jobs" className={buttonStyle()}>
            {t("action")}
          </Link>
        }
      />
    </main>
  );
}
