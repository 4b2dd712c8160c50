// Starts the composition with the server, so that the first request does not wait for it. bin/console.ts watches `ready`.
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { composition } = await import("@/lib/server/composition");
    const { keepStartFailure } = await import("@/lib/server/running");
    try {
      composition();
    } catch (error) {
      keepStartFailure(error);
      throw error;
    }
  }
}
