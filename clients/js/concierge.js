// A client of Concierge for browsers. docs/web.md explains it; concierge.d.ts says what each function takes and gives.

/** A refusal of the server (RFC 9457), or status 0 and code `offline` when it could not be reached. */
export class Problem extends Error {
  name = "Problem";
  constructor(answer) {
    const { detail: text, code, errors: list } = answer.body ?? {}; // Those of a gateway may be anything.
    const detail = typeof text === "string" ? text : `The server answered ${answer.status}.`;
    const errors = Array.isArray(list) ? list.filter((error) => typeof error?.pointer === "string") : [];
    super(errors.length ? `${detail.replace(/\.$/, "")}: ${`${errors[0].pointer} ${errors[0].detail}`.trim()}` : detail);
    Object.assign(this, { status: answer.status, code, errors, answer });
  }
}

const CURRENT = "/v1/sessions/current";
const unless401 = (error) => (error.status === 401 ? null : Promise.reject(error));
// Among the tabs of a browser. Locks exist on secure pages only (https, localhost); elsewhere each tab is on its own.
const locks = globalThis.navigator?.locks ?? { request: async (name, options, work) => work() };

export class Session extends EventTarget {
  #options;
  #token = null;
  #verifier = null;
  #items = new Map();
  info = null;
  isOnline = true;
  isExpired = false;

  constructor(options) {
    super();
    this.#options = { mode: "bearer", storage: null, key: "concierge", ...options, url: options?.url?.replace(/\/$/, "") ?? "" };
    if (options?.token) this.token = options.token;
    this.query = options?.schemas ? "?include=schema" : "";
  }

  static async open(options) {
    const session = new Session(options);
    const { url, mode, key, labels } = session.#options;
    // Of tabs that open at once, the first one creates the session.
    return locks.request(`concierge ${url} ${key}`, {}, async () => {
      try {
        if (session.token || mode === "cookie") return await session.refresh();
      } catch (error) {
        if (error.status !== 401) throw error;
      }
      const { body } = await session.request("POST", "/v1/sessions", { body: { mode, labels } });
      return Object.assign(session, { token: body.token ?? null, info: body.session, isExpired: false });
    });
  }

  get token() {
    const { storage, key } = this.#options;
    return storage ? storage.getItem(key) : this.#token;
  }
  set token(token) {
    const { storage, key } = this.#options;
    this.#token = token;
    token ? storage?.setItem(key, token) : storage?.removeItem(key);
    this.isExpired &&= !token;
  }

  get language() {
    return this.#options.language ?? null;
  }
  set language(language) {
    this.#options.language = language;
    this.#deliver({ type: "refresh" });
  }

  // After a sign-in it proves that this client has sent the credentials (RFC 7636). Tabs share it, as they do the token.
  get #kept() {
    const { storage, key } = this.#options;
    return (storage ? storage.getItem(`${key}-verifier`) : this.#verifier) ?? null;
  }
  set #kept(verifier) {
    const { storage, key } = this.#options;
    this.#verifier = verifier;
    verifier ? storage?.setItem(`${key}-verifier`, verifier) : storage?.removeItem(`${key}-verifier`);
  }

  /** What events carry for a sign-in. Undefined on insecure pages, which cannot compute it: there the back end hands over. */
  async challenge() {
    if (!crypto.subtle) return undefined;
    const verifier = (this.#kept ??= base64URL(crypto.getRandomValues(new Uint8Array(32))));
    return base64URL(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
  }

  /** Another tab may just have exchanged the token: what it stores is seen here a moment after its lock is free. */
  async #isReplaced(token) {
    for (let tries = 0; tries < 20 && token === this.token; tries++) await new Promise((later) => setTimeout(later, 50));
    return token !== this.token;
  }

  /** A sign-in may have ended the token: then this gets the new one. Of several tabs one does so. */
  #exchange(token) {
    const { url, mode, key } = this.#options;
    const ask = (body) => this.request("POST", `${CURRENT}/tokens`, { body, isWatching: true });
    return locks.request(`concierge ${url} ${key} token`, {}, async () => {
      const verifier = this.#kept;
      try {
        if (mode === "cookie") {
          // Another tab may have done it. Without a verifier the cookie is proof enough, unless it is that of a
          // development server.
          const look = () => this.request("GET", CURRENT, { isWatching: true }).then(() => true, () => false);
          if (this.info && (await look())) return true;
          await (verifier ? ask({ verifier }).catch(() => ask()) : ask());
        } else if (token === this.token) {
          if (!token || !verifier) return false;
          const fresh = await ask({ verifier }).catch(unless401);
          if (fresh) this.token = fresh.body.token;
          else if (!(await this.#isReplaced(token))) return false;
        }
        this.#kept = null;
        return true;
      } catch (error) {
        if (error.status !== 401) throw error;
        return false;
      }
    });
  }

  refresh = async () => Object.assign(this, { info: (await this.request("GET", CURRENT)).body, isExpired: false });
  end = () => this.request("DELETE", CURRENT).catch(unless401).then(() => ((this.token = null), this.#expire()));
  service = (name) => this.item(Service, `${CURRENT}/services/${name}`);
  /** Live from its first use on: `follow` reads it like what was read before. */
  get user() {
    return Object.assign(this.service("user"), { isFollowed: true });
  }
  services = async () => (await this.request("GET", `${CURRENT}/services?limit=100`)).body.items;
  journey = (id) => this.item(Journey, `${CURRENT}/journeys/${id}`, this.query);

  start = (flow, options) => this.#begin({ flow, ...options });
  take = (what) => this.#begin(typeof what === "string" ? { link: what } : { take: what });
  journeysOfUser = async () => (await this.request("GET", `${CURRENT}/journeys?of=user&limit=100`)).body.items;

  async #begin(request) {
    const path = `${CURRENT}/journeys${this.query}`;
    const { language } = this;
    const { body, etag } = await this.request("POST", path, { body: request });
    const journey = this.journey(body.id);
    journey.etag || language !== this.language ? await journey.get() : journey.show(body, etag);
    return journey;
  }

  /** Any request of the API, repeated when that may help. A key makes it safe for what changes something. */
  async request(method, path, { body, headers, signal, isWatching, isAgain } = {}, count = 1) {
    const { token, info, language } = this;
    const { url, mode } = this.#options;
    const fields = { ...(language && { "accept-language": language }), ...headers };
    if (body !== undefined) fields["content-type"] ??= "application/json";
    if (token) fields.authorization = `Bearer ${token}`;
    if (method !== "GET") fields["idempotency-key"] ??= `"${crypto.getRandomValues(new Uint32Array(4)).join("-")}"`;
    const init = { method, headers: fields, body: JSON.stringify(body), signal, cache: "no-store" };
    init.credentials = mode === "cookie" ? "include" : "omit";
    // Another tab may have stored the token of another session. What is known here is not mistaken for a part of that.
    const address = url + (info ? path.replace(CURRENT, `/v1/sessions/${info.id}`) : path);
    const began = performance.now();
    let answer;
    try {
      const response = await fetch(address, init);
      // As the server wrote it, also behind a proxy that compresses.
      const etag = response.headers.get("etag")?.replace(/^W\/|-+(gzip|br|zstd)(?="$)/g, "") ?? null;
      answer = { status: response.status, headers: response.headers, etag, response };
      if (answer.headers.get("content-type")?.includes("json")) answer.body = await response.json();
    } catch (cause) {
      if (signal?.aborted) throw cause;
      answer = { status: 0, body: { code: "offline", detail: `No answer: ${cause.message}` } };
    }
    const { status } = answer;
    const most = answer.body?.code === "request_in_progress" ? 30 : [0, 429, 503].includes(status) ? 3 : 1;
    if (count < most) {
      await pause(Math.min(Number(answer.headers?.get("retry-after")) || 0.3, 10) * 1_000, signal);
      return this.request(method, path, { body, headers: fields, signal, isWatching, isAgain }, count + 1);
    }
    if (this.isOnline !== status > 0) this.#tell((this.isOnline = status > 0) ? "online" : "offline");
    const isTold = status && path !== `${CURRENT}/tokens`; // A token is nothing to look at.
    if (isTold) this.#tell("exchange", { method, path, body, answer, duration: performance.now() - began });
    if (status === 401 && !isWatching) {
      const options = { body, headers: fields, signal, isAgain: true };
      if (!isAgain && (await this.#exchange(token))) return this.request(method, path, options);
      if (token === this.token) this.#expire();
    }
    if (answer.body?.code === "session_not_found" && path.startsWith(CURRENT)) this.#expire();
    if (!status || status >= 400) throw new Problem(answer);
    return answer;
  }

  follow() {
    const stop = new AbortController();
    // A browser opens six connections to a server at most, so one tab has the stream and tells the others.
    const channel = new BroadcastChannel(`concierge ${this.#options.url} ${this.info.id}`);
    channel.onmessage = ({ data }) => this.#deliver(data);
    locks.request(channel.name, { signal: stop.signal }, () => this.#watch(stop.signal, channel)).catch(() => {});
    // A tab that has the stream already does not tell what it told before.
    this.#deliver({ type: "refresh" });
    return () => (stop.abort(), channel.close());
  }

  async #watch(signal, channel) {
    let [last, delay, streamsFrom] = [null, 500, 0];
    while (!signal.aborted) {
      const { token } = this;
      try {
        const events = performance.now() < streamsFrom ? this.#polls(signal) : this.#stream(last, signal);
        for await (const event of events) {
          last = event.reason === "reset" ? null : event.id ?? last;
          // Too many watch the session: at once this one would displace another.
          delay = event.reason === "displaced" ? 30_000 : 500;
          this.#deliver(event);
          if (!signal.aborted) channel.postMessage(event);
          if (event.reason === "token_replaced") throw new Problem({ status: 401 });
        }
      } catch (error) {
        if (error.status === 401) await this.#replacement(token, signal);
        else if (error.status === 410) last = null; // The changes since then are not kept any more.
        else if ([404, 405, 406].includes(error.status)) streamsFrom = performance.now() + 300_000;
        else delay = Math.min(delay * 2, 30_000);
      }
      // After a restart of the server not all clients come at once.
      do await pause(delay * (1 + 3 * Math.random()), signal);
      while (this.isExpired && !signal.aborted);
    }
  }

  /** A sign-in ends the old token a little before this client, the app, or another tab has the new one. */
  async #replacement(token, signal) {
    if (await this.#exchange(token).catch(() => false)) return;
    for (let count = 0; count < 20 && this.token === token; count++) await pause(500, signal);
    // Only the browser knows its cookie.
    if (this.token === token && !signal.aborted) await (token ? this.#expire() : this.refresh().catch(() => {}));
  }

  async *#stream(last, signal) {
    const silence = new AbortController();
    let [timer, text] = [null, ""];
    const expect = (status, time) => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new Problem({ status })), time);
    };
    // The head and the first block come at once, and then something every 15 seconds: nothing is what a proxy holds back.
    expect(406, 5_000);
    // Not what an EventSource accepts, which is told less of a problem.
    const headers = { accept: "text/event-stream, application/problem+json", ...(last && { "last-event-id": last }) };
    const options = { headers, signal: AbortSignal.any([signal, silence.signal]), isWatching: true };
    const { response } = await this.request("GET", `${CURRENT}/events`, options, Infinity); // It comes again by itself.
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      expect(0, 35_000);
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const { id, event, data } = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/, 2)));
        // The first block has an id alone. Every change after it will come; what was read before it is read again.
        if (data || id) yield { ...JSON.parse(data ?? "{}"), id, type: event ?? "refresh" };
      }
    }
  }

  /** Where there is no stream: one request waits, best for a journey, which changes with all that it shows. */
  async *#polls(signal) {
    const read = [...this.#items.values()].filter((item) => item.etag);
    const item = read.find(({ value }) => value.status === "active") ?? read[0];
    await (item?.read({ headers: { prefer: "wait=10" }, signal, isWatching: true }) ?? pause(10_000, signal));
    yield { type: "refresh" };
  }

  #deliver(event) {
    if (event.type === "session.ended") return this.#expire();
    for (const item of this.#items.values()) item.notice(event);
    this.#tell("change", event);
  }

  item = (Type, path, query) => this.#items.get(path) ?? this.#items.set(path, new Type(this, path, query)).get(path);
  #expire = () => this.isExpired || this.#tell("expired", (this.isExpired = true));
  #tell = (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail }));
}

/** What services and journeys have in common: a value with its ETag, and the event `change` when it is another one. */
class Live extends EventTarget {
  #notices = 0;
  isFollowed = false;
  value = null;
  etag = null;

  constructor(session, path, query = "") {
    super();
    Object.assign(this, { session, path, query });
  }

  get = async (options) => (await this.read(options)).value;

  async read({ headers, ...options } = {}) {
    const { value, etag } = this;
    const { language } = this.session;
    const fields = { ...(etag && { "if-none-match": etag }), ...headers };
    this.isFollowed = true;
    const request = this.session.request("GET", this.path + this.query, { ...options, headers: fields });
    const answer = await request.catch((error) => {
      if ([404, 410].includes(error.status) && !this.session.isExpired) this.show(null, null);
      throw error;
    });
    if (answer.status === 304) return { value, etag };
    // What was shown meanwhile may be newer than this answer, which may be in another language by now.
    const isLatest = this.etag === etag && this.session.language === language;
    return isLatest ? this.show(answer.body, answer.etag) : this.read({ ...options, headers });
  }

  async write(method, path, options) {
    const before = this.etag;
    const { language } = this.session;
    const { body, etag } = await this.session.request(method, this.path + path, options);
    if (this.etag === before) this.show(body, etag);
    if (this.etag !== etag || this.session.language !== language) await this.get();
    return this.value;
  }

  show(value, etag) {
    const isNew = etag !== this.etag;
    Object.assign(this, { value, etag, isFollowed: etag !== null });
    if (isNew) this.dispatchEvent(new Event("change"));
    return { value, etag };
  }

  /** Something was committed: what was read before is read again, by one request at a time. */
  async notice(event) {
    const isConcerned = event.type === "refresh" || ((event.etag ?? "") !== this.etag && this.mayChangeBy(event));
    if (!this.isFollowed || !isConcerned || this.#notices++) return;
    for (let seen = 0; this.#notices > 0; this.#notices -= seen) {
      await pause(0); // A commit may have several changes, and may be the end of the session.
      seen = this.#notices;
      if (this.session.isExpired) continue;
      await this.read({ isWatching: true }).catch(async ({ status }) => {
        if (status === 0 || status === 429 || status >= 500) await pause(1_000).then(() => (seen = 0));
      });
    }
  }
}

export class Service extends Live {
  put = (body, etag) => this.write("PUT", "", { body, headers: etag && { "if-match": etag } });
  patch = (body, etag) => this.write("PATCH", "", { body, headers: etag && { "if-match": etag } });
  clear = () => this.session.request("DELETE", `${this.path}/state`).then(() => this.get());
  remove = () => this.session.request("DELETE", this.path).then(() => this.get());

  async call(command, body, etag) {
    const options = { body, headers: etag && { "if-match": etag } };
    const answer = await this.session.request("POST", `${this.path}/commands/${command}`, options);
    if (this.etag && this.etag !== answer.etag) await this.get();
    return answer.body?.output;
  }

  async update(change, attempts = 10) {
    const { value, etag } = await this.read();
    const draft = structuredClone(value);
    return this.put((await change(draft)) ?? draft, etag).catch((error) => {
      if (error.status !== 412 || attempts === 1) throw error;
      return this.update(change, attempts - 1);
    });
  }

  mayChangeBy = ({ service, journey }) =>
    this.path.endsWith(`/services/${service}`) || this.path.includes(`/journeys/${journey}/`);
}

export class Journey extends Live {
  get view() {
    return this.value;
  }

  async send(event, data) {
    const headers = this.etag && { "if-match": this.etag };
    const body = { event, data, challenge: await this.session.challenge() };
    return this.write("POST", `/events${this.query}`, { body, headers }).catch(async (error) => {
      if (error.status === 412) await this.read().catch(() => {});
      throw error;
    });
  }

  // As a listener it is given the browser's event, which is no data.
  back = (data) => this.send("back", data instanceof Event ? undefined : data);
  navigate = (to, params) => this.write("POST", `/navigation${this.query}`, { body: { to, params } });
  startOver = (flow, input) => this.write("PUT", this.query, { body: { flow, input } });
  link = async (expires_in) => (await this.session.request("POST", `${this.path}/links`, { body: { expires_in } })).body;
  abandon = () => this.session.request("DELETE", this.path).then(() => this.show(null, null));
  service = (name) => this.session.item(Service, `${this.path}/services/${name}`);

  // Each step of any journey writes `coordinator`. A journey that is over shows no services.
  mayChangeBy = ({ service, journey }) =>
    this.path.endsWith(`/journeys/${journey}`) || (this.view?.screen && service && service !== "coordinator");
}

const base64URL = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const pause = (duration, signal) =>
  new Promise((resolve) => {
    const done = () => (clearTimeout(timer), signal?.removeEventListener("abort", done), resolve());
    const timer = setTimeout(done, duration);
    signal?.addEventListener("abort", done);
  });
