import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { WholePageNote } from "@/components/ui/whole-page-note";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("frame.notFound"))("tab") };
}

export default async function NotFound() {
  const t = await getTranslations("frame.notFound");
  return (
    <main>
      <WholePageNote
        title={t("title")}
        text={t("text")}
        action={
          <Link href="/" className={buttonStyle()}>
            {t("action")}
          </Link>
        }
      />
    </main>
  );
}
