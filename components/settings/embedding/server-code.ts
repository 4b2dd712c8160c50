// Example servers for developers of host pages, with the host's settings. They use only standard libraries, except Python with a key.

import { type EmbedHostView } from "@/lib/contract/embed/embedding";
import { writeExactJson } from "@/lib/contract/json/exact-json";

type CodeSettings = Pick<EmbedHostView, "audience" | "origins" | "jwksUrl" | "role" | "guests">;

export function renderServerCode(language: ServerLanguage, host: CodeSettings): string {
  return templates[language](host, host.jwksUrl !== null);
}

/** A string literal that is valid in all these languages, since origins and URLs need no escaping. */
const quote = (text: string) => writeExactJson(text);
const quoteOrigins = ({ origins }: CodeSettings) => origins.map(quote).join(", ");
const renderEnv = (usesKey: boolean) => (usesKey ? "LIGHTDESK_KEY_FILE=key.pem LIGHTDESK_KEY_ID=ID" : "LIGHTDESK_SECRET=SECRET");
/** PHP and Ruby interpolate variables in double quotes. */
const quoteSingle = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`;

const templates: Readonly<Record<ServerLanguage, (host: CodeSettings, usesKey: boolean) => string>> = {
  node: (host, usesKey) => `// Save as server.mjs and run: ${renderEnv(usesKey)} MEMBER=ada@example.com node server.mjs
import { ${usesKey ? "createSign" : "createHmac"}, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const audience = ${quote(host.audience)};
const origins = [${quoteOrigins(host)}];
${usesKey ? "const { LIGHTDESK_KEY_ID, LIGHTDESK_KEY_FILE } = process.env;\nconst key = readFileSync(LIGHTDESK_KEY_FILE);" : 'const key = process.env.LIGHTDESK_SECRET;\nif (!key) throw new Error("Set LIGHTDESK_SECRET.");'}

// Replace this: return the email address of the member who is signed in on your site.${renderGuestHint(host, "// ", "guest: true, name: NAME")}
function signedInMember(request) {
  return process.env.MEMBER;
}

function makeTicket(member, origin) {
  const now = Math.floor(Date.now() / 1000);
  const header = ${usesKey ? '{ alg: "RS256", kid: LIGHTDESK_KEY_ID }' : '{ alg: "HS256" }'};
  const claims = { iss: origin, aud: audience, sub: member, jti: randomUUID(), iat: now, exp: now + 60, role: ${quote(host.role)} };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return \`\${text}.\${${usesKey ? 'createSign("sha256").update(text).sign(key, "base64url")' : 'createHmac("sha256", key).update(text).digest("base64url")'}}\`;
}

createServer((request, response) => {
  const { method, url, headers } = request;
  if (method === "GET" && url === "/") return response.setHeader("content-type", "text/html").end(readFileSync("page.html"));
  const member = signedInMember(request);
  if (method !== "POST" || url !== "/lightdesk-ticket") return response.writeHead(404).end();
  if (!member || !origins.includes(headers.origin)) return response.writeHead(403).end();
  response.setHeader("cache-control", "no-store").end(makeTicket(member, headers.origin));
}).listen(process.env.PORT ?? 4000);
`,
  python: (
    host,
    usesKey,
  ) => `# Save as server.py and run: ${renderEnv(usesKey)} MEMBER=ada@example.com python3 server.py${usesKey ? "\n# Requires the cryptography package: pip install cryptography" : ""}
import base64, ${usesKey ? "" : "hashlib, hmac, "}json, os, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
${usesKey ? "from cryptography.hazmat.primitives import hashes, serialization\nfrom cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15\n" : ""}
AUDIENCE = ${quote(host.audience)}
ORIGINS = [${quoteOrigins(host)}]
${usesKey ? 'with open(os.environ["LIGHTDESK_KEY_FILE"], "rb") as file:\n    KEY = serialization.load_pem_private_key(file.read(), password=None)' : 'KEY = os.environ["LIGHTDESK_SECRET"].encode()'}


# Replace this: return the email address of the member who is signed in on your site.${renderGuestHint(host, "# ", '"guest": True, "name": NAME')}
def signed_in_member(request):
    return os.environ.get("MEMBER")


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_ticket(member, origin):
    now = int(time.time())
    header = ${usesKey ? '{"alg": "RS256", "kid": os.environ["LIGHTDESK_KEY_ID"]}' : '{"alg": "HS256"}'}
    claims = {"iss": origin, "aud": AUDIENCE, "sub": member, "jti": str(uuid.uuid4()), "iat": now, "exp": now + 60, "role": ${quote(host.role)}}
    text = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    return text + "." + encode(${usesKey ? "KEY.sign(text.encode(), PKCS1v15(), hashes.SHA256())" : "hmac.new(KEY, text.encode(), hashlib.sha256).digest()"})


class Handler(BaseHTTPRequestHandler):
    def respond(self, status, body=b"", kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path != "/":
            return self.respond(404)
        with open("page.html", "rb") as page:
            self.respond(200, page.read(), "text/html")

    def do_POST(self):
        member, origin = signed_in_member(self), self.headers.get("Origin")
        if self.path != "/lightdesk-ticket":
            return self.respond(404)
        if not member or origin not in ORIGINS:
            return self.respond(403)
        self.respond(200, make_ticket(member, origin).encode())


ThreadingHTTPServer(("", int(os.environ.get("PORT", 4000))), Handler).serve_forever()
`,
  php: (host, usesKey) => `<?php
// Save as server.php and run: ${renderEnv(usesKey)} MEMBER=ada@example.com php -S 0.0.0.0:4000 server.php
$audience = ${quoteSingle(host.audience)};
$origins = [${host.origins.map(quoteSingle).join(", ")}];
$key = ${usesKey ? 'file_get_contents(getenv("LIGHTDESK_KEY_FILE"))' : 'getenv("LIGHTDESK_SECRET") ?: exit("Set LIGHTDESK_SECRET.")'};

// Replace this: return the email address of the member who is signed in on your site.${renderGuestHint(host, "// ", '"guest" => true, "name" => NAME')}
function signed_in_member() {
    return getenv("MEMBER");
}

function encode($data) {
    return rtrim(strtr(base64_encode($data), "+/", "-_"), "=");
}

function make_ticket($member, $origin, $audience, $key) {
    $header = ${usesKey ? '["alg" => "RS256", "kid" => getenv("LIGHTDESK_KEY_ID")]' : '["alg" => "HS256"]'};
    $claims = [
        "iss" => $origin, "aud" => $audience, "sub" => $member, "jti" => bin2hex(random_bytes(16)),
        "iat" => time(), "exp" => time() + 60, "role" => ${quoteSingle(host.role)},
    ];
    $text = encode(json_encode($header)) . "." . encode(json_encode($claims));
    ${usesKey ? 'openssl_sign($text, $signature, $key, "sha256");' : '$signature = hash_hmac("sha256", $text, $key, true);'}
    return $text . "." . encode($signature);
}

$path = parse_url($_SERVER["REQUEST_URI"], PHP_URL_PATH);
$origin = $_SERVER["HTTP_ORIGIN"] ?? "";
$member = signed_in_member();
header("Cache-Control: no-store");
if ($_SERVER["REQUEST_METHOD"] === "GET" && $path === "/") {
    readfile("page.html");
} elseif ($_SERVER["REQUEST_METHOD"] !== "POST" || $path !== "/lightdesk-ticket") {
    http_response_code(404);
} elseif (!$member || !in_array($origin, $origins, true)) {
    http_response_code(403);
} else {
    header("Content-Type: text/plain");
    echo make_ticket($member, $origin, $audience, $key);
}
`,
  ruby: (host, usesKey) => `# Save as server.rb and run: ${renderEnv(usesKey)} MEMBER=ada@example.com ruby server.rb
require "base64"
require "json"
require "openssl"
require "securerandom"
require "socket"

AUDIENCE = ${quoteSingle(host.audience)}
ORIGINS = [${host.origins.map(quoteSingle).join(", ")}]
KEY = ${usesKey ? 'OpenSSL::PKey.read(File.read(ENV.fetch("LIGHTDESK_KEY_FILE")))' : 'ENV.fetch("LIGHTDESK_SECRET")'}

# Replace this: return the email address of the member who is signed in on your site.${renderGuestHint(host, "# ", "guest: true, name: NAME")}
def signed_in_member(headers)
  ENV["MEMBER"]
end

def encode(data)
  Base64.urlsafe_encode64(data, padding: false)
end

def make_ticket(member, origin)
  now = Time.now.to_i
  header = ${usesKey ? '{ alg: "RS256", kid: ENV.fetch("LIGHTDESK_KEY_ID") }' : '{ alg: "HS256" }'}
  claims = { iss: origin, aud: AUDIENCE, sub: member, jti: SecureRandom.uuid, iat: now, exp: now + 60, role: ${quoteSingle(host.role)} }
  text = [header, claims].map { |part| encode(part.to_json) }.join(".")
  "#{text}.#{encode(${usesKey ? 'KEY.sign("SHA256", text)' : 'OpenSSL::HMAC.digest("SHA256", KEY, text)'})}"
end

def respond(line, headers)
  method, path = line.split
  return [200, "text/html", File.read("page.html")] if method == "GET" && path == "/"
  return [404, "text/plain", ""] unless method == "POST" && path == "/lightdesk-ticket"
  member, origin = signed_in_member(headers), headers["origin"]
  return [403, "text/plain", ""] unless member && ORIGINS.include?(origin)
  [200, "text/plain", make_ticket(member, origin)]
end

server = TCPServer.new(Integer(ENV.fetch("PORT", "4000")))
loop do
  Thread.new(server.accept) do |client|
    line = client.gets.to_s
    headers = {}
    while (field = client.gets.to_s.chomp) != ""
      name, value = field.split(": ", 2)
      headers[name.downcase] = value
    end
    status, kind, body = respond(line, headers)
    client.write "HTTP/1.1 #{status} -\\r\\nContent-Type: #{kind}\\r\\nContent-Length: #{body.bytesize}\\r\\nCache-Control: no-store\\r\\nConnection: close\\r\\n\\r\\n#{body}"
    client.close
  end
end
`,
  go: (host, usesKey) => `// Save as server.go and run: ${renderEnv(usesKey)} MEMBER=ada@example.com go run server.go
package main

import (
	${usesKey ? '"crypto"' : '"crypto/hmac"'}
	"crypto/rand"
${usesKey ? '	"crypto/rsa"\n' : ""}	"crypto/sha256"
${usesKey ? '	"crypto/x509"\n' : ""}	"encoding/base64"
	"encoding/hex"
	"encoding/json"
${usesKey ? '	"encoding/pem"\n' : ""}	"log"
	"net/http"
	"os"
	"time"
)

const audience = ${quote(host.audience)}

var origins = map[string]bool{${host.origins.map((origin) => `${quote(origin)}: true`).join(", ")}}

// Replace this: return the email address of the member who is signed in on your site.${renderGuestHint(host, "// ", '"guest": true, "name": NAME')}
func signedInMember(request *http.Request) string {
	return os.Getenv("MEMBER")
}

func encode(value any) string {
	data, _ := json.Marshal(value)
	return base64.RawURLEncoding.EncodeToString(data)
}

func sign(text string) []byte {
${
  usesKey
    ? `	file, err := os.ReadFile(os.Getenv("LIGHTDESK_KEY_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	block, _ := pem.Decode(file)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		log.Fatal(err)
	}
	hash := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, hash[:])
	if err != nil {
		log.Fatal(err)
	}
	return signature`
    : `	mac := hmac.New(sha256.New, []byte(os.Getenv("LIGHTDESK_SECRET")))
	mac.Write([]byte(text))
	return mac.Sum(nil)`
}
}

func makeTicket(member, origin string) string {
	id := make([]byte, 16)
	rand.Read(id)
	now := time.Now().Unix()
	header := map[string]any{${usesKey ? '"alg": "RS256", "kid": os.Getenv("LIGHTDESK_KEY_ID")' : '"alg": "HS256"'}}
	claims := map[string]any{
		"iss": origin, "aud": audience, "sub": member, "jti": hex.EncodeToString(id),
		"iat": now, "exp": now + 60, "role": ${quote(host.role)},
	}
	text := encode(header) + "." + encode(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(sign(text))
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, "page.html")
	})
	http.HandleFunc("/lightdesk-ticket", func(w http.ResponseWriter, r *http.Request) {
		member, origin := signedInMember(r), r.Header.Get("Origin")
		if r.Method != "POST" || member == "" || !origins[origin] {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Write([]byte(makeTicket(member, origin)))
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "4000"
	}
	log.Fatal(http.ListenAndServe(":"+port, nil))
}
`,
};

function renderGuestHint({ guests }: CodeSettings, comment: string, claims: string): string {
  return guests ? `\n${comment}For a guest, return your own id for them and add ${claims} to the claims.` : "";
}

// The code to paste into the host's page.

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
  return serverLanguages.some((serverLanguage) => serverLanguage === text);
}

/** Derives the console's URL from the audience of tickets. */
function getConsoleUrl({ audience, id }: EmbedHostView): string {
  return audience.slice(0, -`/embed/${id}`.length);
}

export function renderPageSnippet(host: EmbedHostView): string {
  const consoleUrl = getConsoleUrl(host);
  return `<script src="${consoleUrl}/embed.js"></script>
<lightdesk-embed src="${consoleUrl}" host="${host.id}" page="${host.pages[0] ?? "overview"}" style="height: 800px"></lightdesk-embed>
<script>
  const embed = document.querySelector("lightdesk-embed");
  // Requests a ticket from your server.
  embed.getTicket = async () => (await fetch("/lightdesk-ticket", { method: "POST" })).text();
</script>
`;
}
