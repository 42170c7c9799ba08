// The screens. An app maps each screen's name to a view of its own, and has no navigation logic: the server says where
// the journey is, the view sends one of its events. The first part draws flow `wizard` by hand, as an app would. The
// second part draws every screen of every flow from what the server says of it.

import { element, readable } from "./dom.js";
import { form, takesData } from "./forms.js";

/** By flow and name of the screen. `pane.send` sends an event; `pane.keepsProfile` is the switch before `finish`. */
const screens = {
  "wizard.Start"(view, pane) {
    const known = view.screen.data.profile.name;
    const hello = known
      ? `Nobody removed the profile, so it still says ${known}. A new visitor at this desk would be greeted by that name.`
      : "The desk has no profile of you yet. It makes one when you sign in.";
    const name = element("input", {
      id: `${pane.id}-name`, name: "name", required: true, maxlength: 200, value: known, autocomplete: "off",
    });
    return [
      element("p", { class: known ? "lead warm" : "lead" }, hello),
      element(
        "form",
        {
          class: "form",
          onsubmit(event) {
            event.preventDefault();
            pane.send("sign_in", { name: name.value });
          },
        },
        element("p", { class: "field" }, element("label", { for: name.id }, "Your name"), name),
        element(
          "p",
          { class: "actions" },
          element("button", { class: "primary", type: "submit" }, "Sign in"),
          known && button(`Continue as ${known}`, () => pane.send("next")),
        ),
      ),
    ];
  },

  "wizard.Page"(view, pane) {
    const { profile, quote } = view.screen.data;
    const can = (name) => view.events.some((event) => event.name === name);
    const texts = {
      page1: "Your name is in the service profile of this session. No user id was sent, and nobody else can ask for it.",
      page2: "The quotation opens as a modal: a child coordinator with a draft of its own, which is gone when it closes.",
      page3: "Finishing removes the profile from the service locator and begins with a new stack.",
    };
    return [
      element("p", { class: "lead" }, "Good to see you, ", element("strong", {}, profile.name), "."),
      element("p", {}, texts[view.screen.id]),
      quote && quotation(quote),
      can("finish") && keepSwitch(pane),
      element(
        "p",
        { class: "actions" },
        can("next") && button("Next", () => pane.send("next"), "primary"),
        can("finish") && button("Finish", () => pane.finish(), "primary"),
        can("edit") && button("Edit the quotation", () => pane.send("edit")),
      ),
    ];
  },

  "edit-quote.Quote"(view, pane) {
    return [
      quotation(view.screen.data.quote),
      element(
        "p",
        { class: "actions" },
        button("Edit", () => pane.send("edit"), "primary"),
        button("Close", () => pane.send("close")),
      ),
    ];
  },

  "edit-quote.QuoteForm"(view, pane) {
    const draft = view.screen.data["quote-draft"];
    const [text, author] = [`${pane.id}-text`, `${pane.id}-author`];
    const words = element("textarea", { id: text, rows: 4, required: true, maxlength: 2000 }, draft.text);
    const name = element("input", { id: author, required: true, maxlength: 200, value: draft.author, autocomplete: "off" });
    return [
      element(
        "form",
        {
          class: "form",
          onsubmit(event) {
            event.preventDefault();
            pane.send("save", { text: words.value, author: name.value });
          },
        },
        element("p", { class: "field" }, element("label", { for: text }, "Quotation"), words),
        element("p", { class: "field" }, element("label", { for: author }, "Author"), name),
        element(
          "p",
          { class: "actions" },
          element("button", { class: "primary", type: "submit" }, "Save"),
          button("Cancel", () => pane.send("cancel")),
        ),
      ),
    ];
  },
};

/** What to show of a journey's screen, below its title. */
export function draw(view, pane) {
  const flow = view.stack.at(-1)?.flow;
  return (screens[`${flow}.${view.screen.name}`] ?? drawAny)(view, pane);
}

function button(text, onclick, kind = "", attributes = {}) {
  return element("button", { type: "button", class: kind, onclick, ...attributes }, text);
}

function quotation({ text, author }) {
  return element("figure", { class: "quotation" }, element("blockquote", {}, text), element("figcaption", {}, author));
}

function keepSwitch(pane) {
  return element(
    "p",
    { class: "field flag" },
    element("input", {
      type: "checkbox",
      role: "switch",
      id: `${pane.id}-keep`,
      "aria-describedby": `${pane.id}-keep-note`,
      checked: pane.keepsProfile,
      onchange: (event) => (pane.keepsProfile = event.target.checked),
    }),
    element("label", { for: `${pane.id}-keep` }, "Keep the profile"),
    element("span", { class: "hint", id: `${pane.id}-keep-note` }, "Start over without removing it, and see who is greeted."),
  );
}

// ---- Any flow ----------------------------------------------------------------------------------------------------------

function drawAny(view, pane) {
  if (view.screen.status === "busy") {
    return [element("p", { class: "busy" }, "Waiting for a back end that has to do its part.")];
  }
  const documents = Object.entries(view.screen.data ?? {});
  const simple = view.events.filter((event) => !takesData(event.schema));
  return [
    documents.flatMap(([name, document]) => definitions(name, document)),
    view.events
      .filter((event) => event.enabled && takesData(event.schema))
      .map((event) => form(readable(event.name), event.schema, filling(event.schema, documents), (data) => pane.send(event.name, data, true))),
    simple.length > 0 && element("p", { class: "actions" }, simple.map((event) => eventButton(event, pane))),
    view.events.filter((event) => !event.enabled).map((event) => element("p", { class: "hint", id: whyID(event, pane) }, why(event))),
  ];
}

/** Not `disabled`, so that the keyboard and a screen reader find it, and why it cannot be used. */
function eventButton(event, pane) {
  if (event.enabled) return button(readable(event.name), () => pane.send(event.name));
  return button(readable(event.name), () => {}, "", { "aria-disabled": "true", "aria-describedby": whyID(event, pane) });
}

const whyID = (event, pane) => `${pane.id}-why-${event.name}`;

function why(event) {
  const reasons = (event.why ?? []).map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`);
  return `${readable(event.name)} is not possible yet: ${reasons.join("; ")}.`;
}

function definitions(name, document) {
  const isObject = document !== null && typeof document === "object" && !Array.isArray(document);
  const rows = Object.entries(isObject ? document : { [name]: document });
  return [
    element("h4", {}, readable(name)),
    element(
      "dl",
      { class: "definitions" },
      rows.map(([member, value]) => element("div", {}, element("dt", {}, readable(member)), element("dd", {}, shown(value)))),
    ),
  ];
}

function shown(value) {
  if (value === null || value === "") return element("span", { class: "none" }, "not yet");
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value);
  if (parts.length === 0) return element("span", { class: "none" }, "none");
  const label = (name) => (Array.isArray(value) ? null : `${readable(name)}: `);
  return element("ul", { class: "parts" }, parts.map(([name, part]) => element("li", {}, label(name), shown(part))));
}

/** A shown document, or a part of one, that has all the names of the form: what was entered before. */
function filling(schema, documents) {
  const names = Object.keys(schema.properties ?? {});
  const candidates = documents.flatMap(([, document]) => [document, ...Object.values(document ?? {})]);
  const isFitting = (candidate) => candidate !== null && typeof candidate === "object" && names.every((name) => name in candidate);
  return names.length > 0 ? candidates.find(isFitting) : undefined;
}
