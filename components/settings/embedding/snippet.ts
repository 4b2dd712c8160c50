// The code that a host's developer pastes, filled in with the host's settings.

import { type EmbedHostView } from "@/lib/contract/embed/embedding";

/** The console's address, as tickets name it. */
function consoleOf({ audience, id }: EmbedHostView): string {
  return audience.slice(0, -`/embed/${id}`.length);
}

export function serverSnippet(host: EmbedHostView): string {
  const { audience, origins, jwksUrl, role, guests } = host;
  const key = jwksUrl === null ? "new TextEncoder().encode(process.env.LIGHTDESK_SECRET)" : "yourPrivateKey";
  const head = jwksUrl === null ? '{ alg: "HS256" }' : '{ alg: "ES256", kid: "the id of your key" }';
  return `import { SignJWT } from "jose";
import { randomUUID } from "node:crypto";

// Answers a ticket for whoever is signed in on your page${guests ? "; for a guest: subject(guest.id), and { guest: true, name: guest.name }" : ""}.
export function lightdeskTicket(user) {
  return new SignJWT({ role: "${role}" })
    .setProtectedHeader(${head})
    .setIssuer("${origins[0] ?? ""}")
    .setAudience("${audience}")
    .setSubject(user.email)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime("60s")
    .sign(${key});
}
`;
}

export function pageSnippet(host: EmbedHostView): string {
  const address = consoleOf(host);
  return `<script src="${address}/embed.js"></script>
<lightdesk-embed src="${address}" host="${host.id}" page="${host.pages[0] ?? "overview"}" style="height: 800px"></lightdesk-embed>
<script>
  const embed = document.querySelector("lightdesk-embed");
  // Your server's answer: the ticket as plain text, for your own signed-in visitors only.
  embed.getTicket = async () => (await fetch("/lightdesk-ticket", { method: "POST" })).text();
</script>
`;
}
