// Whether a host is this machine, as URL writes hosts. Free of zod: browsers load it.

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
