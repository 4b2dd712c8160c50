import { type ConnectionStatus, type ConnectionView } from "@/lib/contract/console";
import { type Tone } from "@/components/ui/tone";

export const connectionTone: Readonly<Record<ConnectionStatus, Tone>> = {
  active: "ok",
  waitlisted: "wait",
  refused: "bad",
  strange: "bad",
  unreachable: "bad",
  unknown: "off",
};

export function keyWord(connection: ConnectionView): "noKey" | "sharedKey" | "ownKey" {
  if (!connection.hasKey) return "noKey";
  return connection.shared ? "sharedKey" : "ownKey";
}
