import { useSyncExternalStore } from "react";
import { createStore } from "zustand/vanilla";
import { type EmbedTheme } from "@/lib/contract/embed/embed-pages";

/** The theme that the host page has set since this page was opened. */
const turned = createStore<{ theme?: EmbedTheme }>(() => ({}));

export function turnEmbedTheme(theme: EmbedTheme): void {
  turned.setState({ theme });
}

export function useEmbedTheme(first: EmbedTheme | undefined): EmbedTheme | undefined {
  return (
    useSyncExternalStore(
      turned.subscribe,
      () => turned.getState().theme,
      () => undefined,
    ) ?? first
  );
}
