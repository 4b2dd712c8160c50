// The code that a host's developer pastes into the page, and the languages that there is a server in (server-code.ts).

import { type EmbedHostView } from "@/lib/contract/embed/embedding";

export const serverLanguages = ["node", "python", "php", "ruby", "go"] as const;
export type ServerLanguage = (typeof serverLanguages)[number];
export const languageNames: Readonly<Record<ServerLanguage, string>> = {
  node: "Node",
  python: "Python",
  php: "PHP",
  ruby: "Ruby",
  go: "Go",
};

export function isServerLanguage(text: string): text is ServerLanguage {
  return serverLanguages.some((one) => one === text);
}

/** The console's address, as tickets name it. */
function consoleOf({ audience, id }: EmbedHostView): string {
  return audience.slice(0, -`/embed/${id}`.length);
}

export function pageSnippet(host: EmbedHostView): string {
  const address = consoleOf(host);
  return `<script src="${address}/embed.js"></script>
<lightdesk-embed src="${address}" host="${host.id}" page="${host.pages[0] ?? "overview"}" style="height: 800px"></lightdesk-embed>
<script>
  const embed = document.querySelector("lightdesk-embed");
  // Asks your server, which answers with the ticket.
  embed.getTicket = async () => (await fetch("/lightdesk-ticket", { method: "POST" })).text();
</script>
`;
}
