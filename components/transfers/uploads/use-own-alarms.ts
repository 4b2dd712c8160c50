import { useMemo, useSyncExternalStore } from "react";
import { useConnections } from "@/components/frame/connection/connection-context";
import { type KeptAlarm, keptAlarms, noAlarms } from "./alarm-book";

/** Alarms of connections that this member may use: those of another member in the same browser are hidden. */
export function useOwnAlarms(): readonly KeptAlarm[] {
  const connections = useConnections();
  const all = useSyncExternalStore(keptAlarms.subscribe, keptAlarms.get, () => noAlarms);
  return useMemo(() => {
    const known = new Set(connections.map(({ id }) => id));
    return all.filter(({ connection }) => connection !== undefined && known.has(connection));
  }, [all, connections]);
}
