// Starts the composition with the server, so that the first request does not wait for it. bin/console.ts awaits `ready`.
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { getComposition } = await import("@/lib/server/composition");
    const { authorizeSubscription, canSeeReasons } = await import("@/lib/server/bff/authorize-subscription");
    const { getProcessState } = await import("@/lib/server/process-state");
    const { visitorRules } = await import("@/lib/server/bff/visitor-rules");
    try {
      getComposition();
      Object.assign(getProcessState(), { authorizeSubscription, canSeeReasons, visitorRules, directReads: new Map() });
    } catch (error) {
      // The launcher logs one line. Next would print a thrown error three times.
      getProcessState().startFailure = error;
    }
  }
}
