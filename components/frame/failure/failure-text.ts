import { type useTranslations } from "next-intl";
import { type FailureFacts, toFaultCode } from "./fault-owner";

/** One line, where a whole notice does not fit: what failed, and the service's own words. */
export function failureText(t: ReturnType<typeof useTranslations<"errors">>, failure: FailureFacts): string {
  const title = t(`${toFaultCode(failure)}.title`);
  return failure.message ? `${title}. ${t("reason", { message: failure.message })}` : title;
}
