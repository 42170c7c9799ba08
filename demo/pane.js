// One pane: one session, one journey at a time, and what is drawn of it.

import { fillBasket } from "./basket.js";
import { Session } from "./concierge.js";
import { button, element, readable } from "./dom.js";
import { Drawing } from "./drawing.js";
import { form, reason } from "./forms.js";
import { Inspector } from "./inspector.js";
import { draw } from "./screens.js";
import { current, translate, word } from "./words.js";

export class Pane extends EventTarget {
  keepsProfile = false;
  journey = null;
  #outline = null;
  #turn = 0;
  #drawn = "";

  /** `id` is the pane's name in addresses, and that of its token in this browser. */
  constructor(id) {
    super();
    const root = document.getElementById(id);
    this.visitor = root.getAttribute("aria-label");
    root.append(document.getElementById("pane").content.cloneNode(true));
    Object.assign(this, { id, root, inspector: new Inspector(root) });
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]));
    // A link into the middle.
    this.drawing = new Drawing(this.parts.drawing, (flow, screen) => flow === this.#outline?.id && `#${id}=${flow}/${screen}`);
    this.#translate();
    this.parts.flow.addEventListener("change", () => this.attempt(() => this.choose(this.parts.flow.value)));
    this.parts.back.addEventListener("click", () => this.back());
    this.parts.elsewhere.addEventListener("click", () => this.attempt(() => this.#link()));
    this.parts.end.addEventListener("click", () => this.attempt(() => this.session.end()));
    // Escape closes a modal, as everywhere.
    this.parts.modal.addEventListener("keydown", (event) => event.key === "Escape" && this.back());
  }

  #translate() {
    this.root.ariaLabel = this.parts.title.textContent = word(this.visitor);
    translate(this.root, `${word(this.visitor)}: `);
  }

  /** In the language that was chosen. The client reads the journey again, and `change` draws it. */
  async speak() {
    this.#translate();
    if (!this.session) return;
    this.session.language = current();
    if (this.session.isExpired) return this.#showEnd();
    await this.#list();
    const flow = this.#outline?.id;
    if (flow) this.#outline = (await this.session.request("GET", `/v1/flows/${encodeURIComponent(flow)}`)).body;
    this.journey || !this.#outline ? this.#draw() : this.#askForInput();
  }

  get view() {
    return this.journey?.view ?? null;
  }

  /** How many screens are on the stack. */
  get depth() {
    return this.view?.stack.length ?? 0;
  }

  /** Finds this pane's session, or begins one, and the journey that runs in it. */
  async open() {
    // A page of your own would rather use `mode: "cookie"`, out of reach of scripts: a browser has one cookie for all of
    // its pages, and this page has two visitors; with `?mode=cookie` it has one. All tabs have the same `localStorage`, so
    // they show the same session.
    const isCookie = new URLSearchParams(location.search).get("mode") === "cookie";
    const [mode, key] = isCookie ? ["cookie", "concierge-demo"] : ["bearer", `concierge-demo-${this.id}`];
    // The server may be published under a path: this file is `demo/pane.js` of it.
    const url = new URL("..", import.meta.url).href;
    const session = await Session.open({ url, mode, storage: localStorage, key, schemas: true, language: current() });
    this.session = session;
    this.inspector.watch(session);
    session.addEventListener("offline", () => this.#tell(word("The server cannot be reached. What you see may be old."), "offline"));
    session.addEventListener("online", () => this.#tell("", "offline"));
    session.addEventListener("expired", () => this.#showEnd());
    session.addEventListener("exchange", ({ detail }) => {
      const language = detail.answer.headers.get("content-language");
      if (language && detail.path.includes("/journeys/")) this.parts.card.lang = language;
    });
    session.addEventListener("change", () => this.inspector.showServices());
    this.parts.session.textContent = session.info.id;

    await this.#list();
    await this.choose(localStorage.getItem(`concierge-demo-${this.id}-flow`) ?? "wizard");
    this.stop = session.follow();
  }

  /** Lists the flows, with what they are for as tooltips. */
  async #list() {
    const { body } = await this.session.request("GET", "/v1/flows");
    this.parts.flow.replaceChildren(...body.items.map(({ id, description }) => element("option", { value: id, title: description }, id)));
    if (this.#outline) this.parts.flow.value = this.#outline.id;
  }

  /** Shows the session's journey of a flow, that one or another, and starts one if there is none. */
  async choose(flow, given) {
    const turn = ++this.#turn;
    const { body: outline } = await this.session.request("GET", `/v1/flows/${encodeURIComponent(flow)}`);
    const { body: journeys } = await this.session.request("GET", "/v1/sessions/current/journeys?limit=100");
    const known = journeys.items.filter((journey) => journey.flow === flow);
    const running = given?.view ?? known.find((journey) => journey.status === "active") ?? known[0];
    const needsInput = !running && outline.input?.required?.length;
    if (flow === "checkout" && !running) await fillBasket(this.session);
    const journey = given ?? (running ? this.session.journey(running.id) : !needsInput && (await this.session.start(flow)));
    if (running) await journey.get();
    if (turn !== this.#turn) return; // Another one was chosen meanwhile.
    this.#outline = outline;
    this.parts.flow.value = flow;
    localStorage.setItem(`concierge-demo-${this.id}-flow`, flow);
    if (needsInput) this.#askForInput();
    else this.#show(journey);
  }

  /** A deep link. */
  async goTo(flow, screen) {
    if (this.#outline?.id !== flow) await this.choose(flow);
    if (screen && this.view && this.view.screen?.id !== screen) await this.journey.navigate(screen);
  }

  /** Goes on here with a journey of another device. */
  async take(link) {
    const journey = await this.session.take(link);
    await this.choose(journey.view.flow, journey);
  }

  /** An address to open on another device. The part behind `#` is sent to no server. */
  async #link() {
    const { link } = await this.journey.link("1h");
    this.parts.link.value = `${location.origin}${location.pathname}#${this.id}=${link}`;
    this.parts.link.hidden = false;
    this.parts.link.select();
  }

  /** Sends an event. A form shows by itself what is wrong with its data. */
  send(event, data, isForm = false) {
    return this.attempt(() => this.journey.send(event, data), isForm);
  }

  back() {
    return this.attempt(() => this.journey.back());
  }

  /** The flow's `finish` removes the profile. Starting over releases the journey, and leaves the session's services. */
  finish() {
    return this.keepsProfile ? this.attempt(() => this.journey.startOver("wizard")) : this.send("finish");
  }

  /** Does something that the server may refuse, says why, and stays where it was. */
  async attempt(action, isForm = false) {
    this.#tell("");
    try {
      await action();
    } catch (problem) {
      if (isForm && problem.code === "invalid_input") throw problem;
      if (problem.status === undefined) throw problem;
      if (problem.status === 401 || problem.code === "offline") return;
      this.#tell([problem.answer.body?.detail ?? problem.message, ...problem.errors.map(reason)].join(" "));
      if (this.#outline) this.parts.flow.value = this.#outline.id;
    }
  }

  #show(journey) {
    if (this.journey !== journey) {
      this.journey = journey;
      this.#drawn = "";
      this.parts.link.hidden = true;
      this.parts.stage.replaceChildren();
      // A journey that is shown again is watched already.
      if (!journey.isWatched) journey.addEventListener("change", () => this.journey === journey && this.#draw());
      journey.isWatched = true;
    }
    this.#draw();
  }

  #draw() {
    const { view, parts } = this;
    const isModal = Boolean(view?.screen && view.stack.some(({ presentation }) => presentation === "modal"));
    const target = isModal ? parts.modal : parts.stage;
    const place = `${view?.id} ${view?.step}`;
    const focused = document.activeElement;
    // What the last step has to say. A view that is read again does not say it again, nor does one that is drawn again: a
    // screen reader would repeat it.
    const isNew = place !== this.#drawn || (view?.message && view.message !== parts.said.textContent);
    if (isNew) this.#tell(view?.message ?? "", "said");
    // What somebody is typing is not drawn over when another tab changes a document.
    if (place !== this.#drawn || !(target.contains(focused) && focused.matches("input, textarea, select"))) {
      if (isModal && !parts.stage.hasChildNodes()) this.#drawBelow(view);
      target.replaceChildren(...this.#screen(view));
    }
    this.#drawn = place;
    // Not `showModal`: the other visitor's pane goes on.
    parts.modal.open = isModal;
    if (!isModal) parts.modal.replaceChildren();
    parts.modal.ariaLabel = isModal ? (view.screen.title ?? view.screen.name) : null;
    parts.stage.inert = isModal;
    parts.back.hidden = !view?.can_go_back;
    parts.elsewhere.hidden = !(view?.screen && this.#outline?.definition?.portable);
    if (parts.elsewhere.hidden) parts.link.hidden = true;
    this.inspector.showJourney(view, this.#outline?.input);
    this.inspector.showServices();
    this.drawing.show(this.session, view);
    // Whoever uses the keyboard or a screen reader stands before the new screen.
    const isLost = !focused.isConnected || focused.closest("[hidden], [inert]");
    if (isLost) target.querySelector("h3")?.focus();
    this.dispatchEvent(new Event("moved"));
  }

  #screen(view) {
    const heading = (text) => element("h3", { tabindex: "-1" }, text);
    const again = button(word("Start over"), () => this.attempt(() => this.#startOver()), "primary");
    if (!view) return [heading(word("This journey is gone")), element("p", { class: "actions" }, again)];
    if (view.screen && view.status === "active") {
      return [heading(view.screen.title ?? view.screen.name), ...draw(view, this).flat().filter(Boolean)];
    }
    const text = view.status === "finished" ? word("The flow ended with the outcome “{outcome}”.", view) : view.problem?.detail ?? "";
    return [
      heading(word(`This journey is ${view.status}`)),
      element("p", {}, text),
      view.output && element("pre", { tabindex: "0" }, JSON.stringify(view.output, null, 2)),
      element("p", { class: "actions" }, again),
    ].filter(Boolean);
  }

  /** After a reload nobody knows what was drawn below a modal: its title will do. */
  #drawBelow(view) {
    const below = view.stack.findLast(({ presentation }, place) => presentation !== "modal" && place < view.stack.length - 1);
    const screen = this.#outline?.screens?.find(({ id }) => id === below?.screen);
    this.parts.stage.replaceChildren(element("h3", {}, screen?.title ?? readable(below?.screen ?? "")));
  }

  #startOver() {
    if (this.#outline.input?.required?.length) return this.#askForInput();
    if (!this.view) return this.choose(this.#outline.id);
    return this.journey.startOver(this.#outline.id);
  }

  /** A flow that cannot begin without being told something. */
  #askForInput() {
    const { id, input } = this.#outline;
    const start = async (data) => this.#show(await this.session.start(id, { input: data }));
    this.journey = null;
    this.inspector.showJourney(null, input);
    this.parts.stage.replaceChildren(
      element("h3", { tabindex: "-1" }, word("What {flow} has to be told", { flow: id })),
      form(word("Start"), input, {}, (data) => this.attempt(() => start(data), true)),
    );
  }

  #showEnd() {
    this.stop?.();
    this.journey = null;
    this.inspector.showJourney(null);
    this.parts.services.replaceChildren(element("li", { class: "none" }, word("all removed")));
    this.parts.modal.open = this.parts.stage.inert = false;
    this.parts.back.hidden = true;
    this.parts.stage.replaceChildren(
      element("h3", { tabindex: "-1" }, word("This session has ended")),
      element("p", {}, word("Its services and journeys are removed, and its token opens nothing any more.")),
      element("p", { class: "actions" }, button(word("Begin a new session"), () => this.attempt(() => this.open()), "primary")),
    );
  }

  #tell(text, kind = "message") {
    this.parts[kind].textContent = text;
  }
}
