import { useTranslations } from "next-intl";
import { type Tone } from "@/components/ui/status-badge";
import { hasFeature } from "@/lib/contract/connections";
import { type ConnectionStatus, type ConnectionView } from "@/lib/contract/console";
import { getOwn } from "@/lib/contract/json/json";

export const connectionTone: Readonly<Record<ConnectionStatus, Tone>> = {
  active: "ok",
  waitlisted: "wait",
  refused: "bad",
  forbidden: "bad",
  unpaid: "bad",
  failing: "bad",
  strange: "bad",
  unreachable: "bad",
  unknown: "off",
};

/** "answer", or a failure code. */
export type LastResponse = string;

const failureStatus: Readonly<Partial<Record<string, ConnectionStatus>>> = {
  UPSTREAM_REFUSED_KEY: "refused",
  FORBIDDEN: "forbidden",
  PAYMENT_REQUIRED: "unpaid",
  UPSTREAM_UNREACHABLE: "unreachable",
  UPSTREAM_TIMEOUT: "unreachable",
  SERVICE_UNAVAILABLE: "failing",
  UPSTREAM_UNREADABLE: "strange",
  UPSTREAM_NOT_FOUND: "strange",
  UPSTREAM_ERROR: "failing",
};

/** The last response overrides an earlier check: the status is green only if that response succeeded. */
export function statusNow(checked: ConnectionStatus = "unknown", last?: LastResponse): ConnectionStatus {
  if (last === undefined) return checked;
  // Waitlisted accounts also get responses.
  if (last === "answer") return checked === "waitlisted" ? checked : "active";
  return getOwn(failureStatus, last) ?? (checked === "active" ? "unknown" : checked);
}

export function keyWord(connection: ConnectionView): "localServer" | "noKey" | "sharedKey" | "ownKey" {
  if (!connection.hasKey && !hasFeature(connection, "accounts")) return "localServer";
  if (!connection.hasKey) return "noKey";
  return connection.shared ? "sharedKey" : "ownKey";
}

export function useKeyNote(): (connection: ConnectionView) => string {
  const t = useTranslations("frame.connection");
  return (connection) => (connection.seenOf === undefined ? t(keyWord(connection)) : t("seenOf", { owner: connection.seenOf }));
}
