// A host page of Lightdesk, whole: `npm install jose`, then
//   LIGHTDESK=http://127.0.0.1:3000 LIGHTDESK_HOST=… LIGHTDESK_SECRET=… node docs/examples/embed-host.mjs
// The id and the secret are those that Settings, Embedding shows; the origin there is the address that this prints.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { SignJWT } from "jose";

const { LIGHTDESK = "http://127.0.0.1:3000", LIGHTDESK_HOST = "", LIGHTDESK_SECRET = "", PORT = "4000" } = process.env;
if (!LIGHTDESK_HOST || !LIGHTDESK_SECRET) {
  console.error("Set LIGHTDESK_HOST and LIGHTDESK_SECRET: Settings, Embedding shows both.");
  process.exit(1);
}

/** Who is signed in here. A real host reads its own session; this one takes everybody for the same member. */
const signedIn = { email: process.env.MEMBER ?? "ada@example.com" };

function ticketFor({ email }, origin) {
  return new SignJWT({ role: "operator" })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(origin)
    .setAudience(`${LIGHTDESK}/embed/${LIGHTDESK_HOST}`)
    .setSubject(email)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime("60s")
    .sign(new TextEncoder().encode(LIGHTDESK_SECRET));
}

const page = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>A host page</title>
  <script src="${LIGHTDESK}/embed.js"></script>
  <h1>A host page</h1>
  <button id="jobs">Jobs</button> <button id="choose">Choose an asset</button> <button id="end">Sign out</button>
  <lightdesk-embed src="${LIGHTDESK}" host="${LIGHTDESK_HOST}" page="jobs" style="height: 700px"></lightdesk-embed>
  <ol id="heard"></ol>
  <script>
    const embed = document.querySelector("lightdesk-embed");
    embed.getTicket = async () => (await fetch("/ticket", { method: "POST" })).text();
    jobs.onclick = () => embed.navigate("jobs");
    choose.onclick = () => embed.chooseAsset();
    end.onclick = () => embed.end();
    for (const name of ["ready", "navigated", "job-submitted", "job-ended", "asset-chosen", "session-ended", "error"])
      embed.addEventListener(name, ({ type, detail }) => {
        heard.append(Object.assign(document.createElement("li"), { textContent: type + " " + JSON.stringify(detail) }));
      });
  </script>
</html>`;

createServer(async ({ method, url }, response) => {
  // A ticket is for whoever is signed in on this page, and for nobody who comes from elsewhere.
  if (method === "POST" && url === "/ticket") return response.end(await ticketFor(signedIn, origin));
  response.writeHead(url === "/" ? 200 : 404, { "content-type": "text/html" }).end(url === "/" ? page : "");
}).listen(Number(PORT), "127.0.0.1", function () {
  origin = `http://localhost:${this.address().port}`;
  console.log(`Host page: ${origin}`);
});
let origin;
