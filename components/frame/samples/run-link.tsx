import { useTranslations } from "next-intl";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";

/** The next step where there are no jobs: to run one. `linked`: `?connection=` of the page's own address. */
export function RunLink({ linked }: { linked?: string }) {
  return (
    <Link href={withQuery("/run", { connection: linked })} className={buttonStyle()}>
      {useTranslations("frame")("run")}
    </Link>
  );
}
