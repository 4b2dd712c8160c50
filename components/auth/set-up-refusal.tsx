import { useTranslations } from "next-intl";
import { FailureMessage } from "@/components/frame/failure-message";
import { buttonStyle } from "@/components/ui/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { Link } from "@/components/ui/link";
import { type ApiFailure } from "@/lib/browser/read-failure";

/** A spent link and an owner who exists already are no faults to mend here: both lead to the sign-in. */
export function SetUpRefusal({ failure }: { failure: ApiFailure }) {
  const t = useTranslations("auth.setUp");
  const isSpent = failure.code === "UNAUTHORIZED" || failure.code === "CONFLICT";
  if (!isSpent) return <FailureMessage failure={failure} />;
  const key = failure.code === "CONFLICT" ? "taken" : "spent";
  return (
    <FailureNotice
      title={t(`${key}.title`)}
      next={t(`${key}.text`)}
      actions={
        <Link href="/sign-in" className={buttonStyle()}>
          {t("toSignIn")}
        </Link>
      }
    />
  );
}
