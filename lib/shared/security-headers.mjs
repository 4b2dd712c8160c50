// Set on every response of the console: by Next (next.config.js), and where the launcher answers without it.
export const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
};

/** Embedded pages are framed by the origins in their content policy, which this older header can't express. */
export const unframedHeaders = { "X-Frame-Options": "DENY" };
