// Types of <lightdesk-embed>. Copy this file into your project or reference it.

export type LightdeskPage = "overview" | "jobs" | "queue" | "history" | "assets" | "files" | "run" | "apps" | "settings" | "doctor";

export interface LightdeskEmbedEvents {
  ready: CustomEvent<{ page: string; keeps: "cookie" | "memory" }>;
  navigated: CustomEvent<{ path: string }>;
  "job-submitted": CustomEvent<{ id: string }>;
  "job-ended": CustomEvent<{ id: string; status: "completed" | "failed" | "cancelled" }>;
  "asset-chosen": CustomEvent<{ id: string; name: string; hash: string | null }>;
  "session-ended": CustomEvent<{ reason: "host" | "expired" | "refused" | "changed" }>;
  error: CustomEvent<{ reason: "no-ticket" | "ticket" | "unreachable" | "console" | "storage" | "unknown-host" }>;
}

/** Attributes: src, host, page, theme ("system", "light", "dark"), language ("en", "zh-CN"), product (a name for visitors), height ("auto"). */
export interface LightdeskEmbedElement extends HTMLElement {
  getTicket: () => Promise<string>;
  page: string | null;
  theme: string | null;
  language: string | null;
  navigate(page: LightdeskPage | `/${string}`): void;
  chooseAsset(): void;
  end(): void;
  addEventListener<K extends keyof LightdeskEmbedEvents>(
    type: K,
    listener: (event: LightdeskEmbedEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "lightdesk-embed": LightdeskEmbedElement;
  }
}
