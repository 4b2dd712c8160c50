// Starts the composition with the server, so that the first request does not wait for it. bin/console.ts watches `ready`.
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { composition } = await import("@/lib/server/composition");
    const { authorizeSubscription, canSeeReasons } = await import("@/lib/server/bff/admit-listener");
    const { getProcessState } = await import("@/lib/server/running");
    const { visitorRules } = await import("@/lib/server/bff/visitor-rules");
    try {
      composition();
      Object.assign(getProcessState(), { authorizeSubscription, canSeeReasons, visitorRules, directReads: new Map() });
    } catch (error) {
      // The launcher logs one line. Next would print a thrown error three times.
      getProcessState().startFailure = error;
    }
  }
}
