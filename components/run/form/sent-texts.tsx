import { useTranslations } from "next-intl";
import { createContext, useContext } from "react";
import { type FilledText } from "@/lib/contract/nodes/fill-texts";
import { fieldDomId } from "./field-ids";

/** Texts that the next run sends differently from what the form shows. */
export const SentTexts = createContext<readonly FilledText[]>([]);

export function SentAs({ id }: { id: string }) {
  const t = useTranslations("run.field");
  const found = useContext(SentTexts).find(({ nodeId, name }) => fieldDomId(nodeId, name) === id);
  return found ? <p className="mt-0.5 text-sm break-words text-ink-2">{t("sentAs", { text: found.text })}</p> : null;
}
