/** Next's router for components that stand outside of a page: it goes nowhere, and tells where it was asked to go. */
export function plainRouter(push: (href: string) => void = () => undefined) {
  const nothing = () => undefined;
  return { push, replace: nothing, refresh: nothing, back: nothing, forward: nothing, prefetch: nothing, bfcacheId: "0" };
}
