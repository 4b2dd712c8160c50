// What must not be shown of a source's address: tokens and signatures in its query.
// Guarantees: an address that is shown or kept is without them; the rest of it stays as it was sent.

import { createHash } from "node:crypto";

const secret = /^(.*[-_.])?(token|key|apikey|secret|password|passwd|pwd|auth|authorization|credentials?|signature|sig|jwt|session)$/i;
const signing = /^x-(amz|goog)-/i;
const HIDDEN = "***";

export function hideSecrets(url: string): string {
  const start = url.indexOf("?");
  if (start < 0) return url;
  const shown = url
    .slice(start + 1)
    .split("&")
    .map((pair) => {
      const name = pair.split("=")[0] ?? "";
      return pair.includes("=") && isSecret(name) ? `${name}=${HIDDEN}` : pair;
    });
  return `${url.slice(0, start)}?${shown.join("&")}`;
}

/** The same for the same address, so that a later request for it is recognised; the address cannot be read from it. */
export function nameOfSource(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}

function isSecret(name: string): boolean {
  const plain = decode(name);
  return secret.test(plain) || signing.test(plain);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // as it was written
  }
}
