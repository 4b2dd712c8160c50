// Set on all console responses: by Next (next.config.js), and by the launcher for responses without Next.
export const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
};

/** Not set on embedded pages, because this older header can't allow the origins in their content policy. */
export const unframedHeaders = { "X-Frame-Options": "DENY" };
