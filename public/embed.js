// <lightdesk-embed> shows pages of a Lightdesk console inside another page. See docs/embedding.md. It has no dependencies.
// Tickets are sent only by postMessage to the console's origin, never in a URL or HTML. Messages from other frames and origins are ignored.
(() => {
  const READY_TIMEOUT_MS = 5000;
  const own = document.currentScript?.src ?? "";
  const getMessages = (language) => (language?.startsWith("zh") ? chinese : english);
  const english = {
    title: "{0} doesn’t appear",
    page: "This page",
    again: "Try again",
    passed: "OK",
    getTicket: ["Ticket function", "Set getTicket on the element to an async function that returns a new ticket from your server."],
    console: ["Console", "No response from {0}. Check src, the console, and this page's connect-src and frame-src."],
    host: ["Host", "Unknown host id. Copy it from Settings > Embedding."],
    framing: ["Framing", "Add {0} to this host's origins in Settings > Embedding."],
    frame: ["Frame", "The page didn't load. Remove X-Frame-Options and policies that a proxy adds to /embed."],
    ticket: ["Ticket", "{0}"],
    clock: ["Clock", "Your ticket server's clock differs from the console's by {0} s. Synchronize it."],
    session: ["Session", "The console refused the ticket. See why in Settings > Embedding."],
    noSession: ["Session", "No session yet. Fix the problems above, then try again."],
    fault: ["Session", "The console couldn't create a session. Check its log."],
    noTicket: "getTicket failed: {0}",
    noJwt: "getTicket didn't return a signed ticket (three parts separated by dots).",
    audience: "Its audience must be {0}.",
    issuer: "Its issuer must be this page's origin, {0}.",
  };
  const chinese = {
    title: "{0}没有出现",
    page: "此页面",
    again: "重试",
    passed: "正常",
    getTicket: ["票据函数", "请在元素上设置 getTicket：一个返回您服务器新票据的异步函数。"],
    console: ["控制台", "{0} 没有应答。请检查 src、控制台是否在运行，以及本页的 connect-src 和 frame-src 是否允许它。"],
    host: ["宿主", "控制台没有此 id 的宿主页面。请从“设置 → 嵌入”中复制。"],
    framing: ["嵌入许可", "请在“设置 → 嵌入”中把 {0} 加入此宿主的来源。"],
    frame: ["框架", "控制台的页面没有在此加载。代理可能添加了 X-Frame-Options 或自己的策略：请对 /embed 去掉它。"],
    ticket: ["票据", "{0}"],
    clock: ["时钟", "签发票据的服务器时钟与控制台相差 {0} 秒。请校准。"],
    session: ["会话", "控制台没有接受票据。原因见“设置 → 嵌入”。"],
    noSession: ["会话", "尚未开始。请先更正以上各项，然后重试。"],
    fault: ["会话", "控制台因自身原因（例如磁盘已满）无法开始会话。原因见其日志。"],
    noTicket: "getTicket 失败：{0}",
    noJwt: "getTicket 没有返回已签名的票据（用点分隔的三段）。",
    audience: "其受众必须是 {0}。",
    issuer: "其签发者必须是本页的来源 {0}。",
  };
  const fill = (text, value) => text.replace("{0}", value);
  const style = `:host{display:block;height:600px;position:relative}iframe{display:block;width:100%;height:100%;border:0;color-scheme:normal}
    section{--paper:#fbfbfb;--ink:#1c1c1c;position:absolute;inset:0;overflow:auto;box-sizing:border-box;padding:16px;background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,sans-serif}
    h2{font-size:16px;margin:0 0 8px}ul{list-style:none;padding:0;margin:0 0 12px}li{padding:2px 0}b{font-weight:600}
    button{font:inherit;padding:4px 12px}
    @media(prefers-color-scheme:dark){:host(:not([theme=light])) section{--paper:#141414;--ink:#ededed}}
    :host([theme=dark]) section{--paper:#141414;--ink:#ededed}`;

  class LightdeskEmbed extends HTMLElement {
    static observedAttributes = ["src", "host", "page", "theme", "language", "height"];
    /** Set by the host page: an async function that returns a new ticket. It may be set before the element is defined. */
    getTicket = this.getTicket;
    #root = this.attachShadow({ mode: "open" });
    #frame = undefined;
    #readyTimer = undefined;
    #hasMessage = false;
    #ready = false;
    #problem = undefined;
    #target = undefined;
    #onMessage = (event) => this.#receive(event);

    connectedCallback() {
      window.addEventListener("message", this.#onMessage);
      this.#start();
    }
    disconnectedCallback() {
      window.removeEventListener("message", this.#onMessage);
      clearTimeout(this.#readyTimer);
      this.#frame?.remove();
      this.#frame = undefined;
      this.#target = undefined;
    }
    attributeChangedCallback(name, before, now) {
      if (before === now || !this.#frame) return;
      if (name === "theme" || name === "language") return this.#send({ type: name, [name]: now });
      if (name === "height") return this.#send({ type: "height", follow: now === "auto" });
      if (name === "page") return this.navigate(now ?? "overview");
      this.#start();
    }

    /** `page`: a page's name, or a path of the console such as "/jobs?status=failed". */
    navigate(page) {
      this.#send({ type: "navigate", to: toPath(page) });
    }
    /** Lets the user choose an asset, which the event "asset-chosen" contains. */
    chooseAsset() {
      this.#send({ type: "choose-asset" });
    }
    /** Ends the session, for when the user signs out of the host page. */
    end() {
      this.#send({ type: "end" });
    }
    get theme() {
      return this.getAttribute("theme");
    }
    set theme(theme) {
      this.#reflect("theme", theme);
    }
    get language() {
      return this.getAttribute("language");
    }
    set language(language) {
      this.#reflect("language", language);
    }
    get page() {
      return this.getAttribute("page");
    }
    set page(page) {
      this.#reflect("page", page);
    }

    #reflect(name, value) {
      if (value == null) this.removeAttribute(name);
      else this.setAttribute(name, value);
    }

    #start() {
      const source = this.getAttribute("src") ?? own.replace(/\/embed\.js(\?.*)?$/, "");
      const host = this.getAttribute("host");
      if (!host || !URL.canParse(source, location.href)) return;
      const { origin, pathname } = new URL(source, location.href);
      const base = pathname.replace(/\/+$/, "");
      const slot = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => (byte % 36).toString(36)).join("");
      this.#target = { origin, base: origin + base, host };
      this.#hasMessage = false;
      this.#ready = false;
      this.#problem = undefined;
      const words = getMessages(this.language ?? document.documentElement.lang);
      const frame = document.createElement("iframe");
      const to = toPath(this.page ?? "overview");
      const { theme, language } = this;
      const query = new URLSearchParams({ from: to, origin: location.origin, ...(theme && { theme }), ...(language && { language }) });
      frame.src = `${origin}${base}/embed/${encodeURIComponent(host)}/${slot}/${to === "/doctor" ? "doctor" : "start"}?${query}`;
      frame.title = this.title || this.getAttribute("product") || words.page;
      frame.allow = "camera; clipboard-write; fullscreen";
      frame.referrerPolicy = "no-referrer";
      const css = document.createElement("style");
      css.textContent = style;
      this.#root.replaceChildren(css, frame);
      this.#frame = frame;
      clearTimeout(this.#readyTimer);
      this.#readyTimer = setTimeout(() => void this.#diagnose(), READY_TIMEOUT_MS);
    }

    #send(message) {
      if (this.#target) this.#frame?.contentWindow?.postMessage({ lightdesk: 1, ...message }, this.#target.origin);
    }

    #receive({ source, origin, data }) {
      if (!this.#frame || source !== this.#frame.contentWindow || origin !== this.#target.origin) return;
      if (typeof data !== "object" || data === null || data.lightdesk !== 1 || typeof data.type !== "string") return;
      const { type, lightdesk: _version, ...detail } = data;
      this.#hasMessage = true;
      if (type === "want-ticket") return void this.#sendTicket();
      if (type === "height") {
        if (this.getAttribute("height") === "auto" && Number.isFinite(detail.height))
          this.style.height = `${Math.min(Math.max(detail.height, 0), 100_000)}px`;
        return;
      }
      if (!["ready", "navigated", "job-submitted", "job-ended", "asset-chosen", "session-ended", "error"].includes(type)) return;
      if (type === "error") this.#problem = detail.reason;
      if (type === "ready") {
        this.#ready = true;
        clearTimeout(this.#readyTimer);
        this.#root.querySelector("section")?.remove();
        this.#send({ type: "height", follow: this.getAttribute("height") === "auto" });
      }
      if (type === "session-ended") clearTimeout(this.#readyTimer);
      this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
    }

    async #sendTicket() {
      try {
        const ticket = await this.getTicket();
        if (typeof ticket !== "string") throw new TypeError("getTicket must return a string");
        this.#send({ type: "ticket", ticket, theme: this.theme, language: this.language });
      } catch {
        this.#send({ type: "no-ticket" });
      }
    }

    /** Checks why the page didn't load, and lists each check with its remedy. */
    async #diagnose() {
      const words = getMessages(this.language ?? document.documentElement.lang);
      const { base, host } = this.#target;
      const lines = [];
      const line = (name, isPassed, ...values) => {
        lines.push([words[name][0], isPassed ? undefined : fill(words[name][1], values[0] ?? "")]);
        return isPassed;
      };
      line("getTicket", typeof this.getTicket === "function");
      const query = new URLSearchParams({ host, origin: location.origin });
      const check = await fetch(`${base}/api/embed/check?${query}`, { credentials: "omit" }).then(
        (response) => (response.ok ? response.json() : undefined),
        () => undefined,
      );
      if (line("console", check !== undefined, base) && line("host", check.known) && line("framing", check.framing, location.origin)) {
        line("frame", this.#hasMessage);
        const ticket = await readTicket(this.getTicket, words, `/embed/${host}`);
        line("ticket", ticket.problem === undefined, ticket.problem);
        const off = ticket.iat === undefined ? 0 : Math.round(ticket.iat - check.now / 1000);
        line("clock", Math.abs(off) < 30, off);
        // This runs only without a session, so the last check always fails.
        line(this.#problem === "console" ? "fault" : this.#problem === "ticket" ? "session" : "noSession", false);
      }
      // The page may have loaded in the meantime.
      if (this.isConnected && !this.#ready) this.#show(words, lines);
    }

    #show(words, lines) {
      const createElement = (name, ...children) => {
        const element = document.createElement(name);
        element.append(...children);
        return element;
      };
      const retryButton = createElement("button", words.again);
      retryButton.onclick = () => this.#start();
      const items = lines.map(([name, remedy]) =>
        createElement("li", createElement("b", `${remedy === undefined ? "✓" : "✗"} ${name}: `), remedy ?? words.passed),
      );
      const title = fill(words.title, this.getAttribute("product") || words.page);
      const panel = createElement("section", createElement("h2", title), createElement("ul", ...items), retryButton);
      panel.setAttribute("role", "alert");
      this.#root.querySelector("section")?.remove();
      this.#root.append(panel);
    }
  }

  function toPath(page) {
    return page.startsWith("/") ? page : page === "overview" ? "/" : `/${page}`;
  }

  /** Checks the ticket's claims. Only the console can verify the signature. */
  async function readTicket(getTicket, words, audience) {
    let ticket;
    try {
      ticket = await getTicket();
    } catch (error) {
      return { problem: fill(words.noTicket, error instanceof Error ? error.message : String(error)) };
    }
    try {
      const [, payload = ""] = ticket.split(".");
      const { iat, aud, iss } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
      if (![aud].flat().some((value) => String(value).endsWith(audience))) return { problem: fill(words.audience, `…${audience}`) };
      return iss === location.origin ? { iat } : { problem: fill(words.issuer, location.origin) };
    } catch {
      return { problem: words.noJwt };
    }
  }

  if (!customElements.get("lightdesk-embed")) customElements.define("lightdesk-embed", LightdeskEmbed);
})();
