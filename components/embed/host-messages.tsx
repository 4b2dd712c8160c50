"use client";

import dynamic from "next/dynamic";
import { type EmbeddedSession } from "./host-bridge";

const HostBridge = dynamic(() => import("./host-bridge").then((module) => module.HostBridge));

/** Exchanges messages with the surrounding page; only embedded pages load this. */
export function HostMessages({ session }: { session: EmbeddedSession }) {
  return <HostBridge session={session} />;
}
