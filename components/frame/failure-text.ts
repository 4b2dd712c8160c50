import { type useTranslations } from "next-intl";
import { toSaidCode } from "./whose";

/** One line for where a whole notice does not fit: what failed, and the other side's own words. */
export function failureText(t: ReturnType<typeof useTranslations<"errors">>, failure: { code: string; message: string }): string {
  const title = t(`${toSaidCode(failure.code)}.title`);
  return failure.message ? `${title}. ${t("said", { message: failure.message })}` : title;
}
