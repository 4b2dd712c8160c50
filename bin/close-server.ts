// Ends a server as a person expects of Ctrl-C: nothing new, what is in flight ends within a grace, idle connections are let go at once.
import { type Server } from "node:http";

export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection that falls idle after its last answer would otherwise be kept for seconds.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(force);
      resolve();
    });
  });
}
