import { useTranslations } from "next-intl";
import { type ConnectionView } from "@/lib/contract/console";
import { keyWord } from "./connection-status";

/** Whose key a connection uses, or whose jobs are seen there. */
export function useKeyNote(): (connection: ConnectionView) => string {
  const t = useTranslations("frame.connection");
  return (connection) => (connection.seenOf === undefined ? t(keyWord(connection)) : t("seenOf", { owner: connection.seenOf }));
}
