"use client";

import dynamic from "next/dynamic";
import { type EmbeddedSession } from "./host-bridge";

const HostBridge = dynamic(() => import("./host-bridge").then((module) => module.HostBridge));

/** Exchanges messages with the host page. Loaded only by embedded pages. */
export function HostMessages({ session }: { session: EmbeddedSession }) {
  return <HostBridge session={session} />;
}
