import { useLocale, useTranslations } from "next-intl";
import { formatBytes } from "@/lib/shared/format";
import { type FieldProblem } from "./app-values";

/** "Picture: needs an image": the input's label, and what it takes. */
export function useProblemText(): (problem: FieldProblem) => string {
  const t = useTranslations("apps.problem");
  const locale = useLocale();
  return (problem) => {
    if (problem.code === "message") return t("message", problem);
    const { label, code, control = "text", limit } = problem;
    if (code === "missing") return t(`missing.${control}`, { label });
    if (code === "wrong_type") return t(`wrong_type.${control}`, { label });
    const isCounted = code === "too_many_pixels" && limit !== undefined;
    const shown = isCounted ? new Intl.NumberFormat(locale).format(limit) : String(limit ?? "");
    return t(code, { label, limit: code === "file_too_large" ? formatBytes(Number(limit), locale) : shown });
  };
}
