// The screens of the flow `wizard` by hand, as an app has them: each screen's name is mapped to a view of its own. There is
// no navigation logic: the server says where the journey is, the view sends one of its events.

import { button, element } from "./dom.js";
import { word } from "./words.js";

/** By flow and name of the screen. `pane.send` sends an event; `pane.keepsProfile` is the switch before `finish`. */
export const screens = {
  "wizard.Start"(view, pane) {
    const known = view.screen.data.profile.name;
    const hello = known
      ? word("Nobody removed the profile, so it still says {name}. A new visitor at this desk would be greeted by that name.", { name: known })
      : word("The desk has no profile of you yet. It makes one when you sign in.");
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
        element("p", { class: "field" }, element("label", { for: name.id }, word("Your name")), name),
        element(
          "p",
          { class: "actions" },
          element("button", { class: "primary", type: "submit" }, word("Sign in")),
          known && button(word("Continue as {name}", { name: known }), () => pane.send("next")),
        ),
      ),
    ];
  },

  "wizard.Page"(view, pane) {
    const { profile, quote } = view.screen.data;
    const can = (name) => view.events.some((event) => event.name === name);
    const texts = {
      page1: word("Your name is in the service profile of this session. No user id was sent, and nobody else can ask for it."),
      page2: word("The quotation opens as a modal: a child coordinator with a draft of its own, which is gone when it closes."),
      page3: word("Finishing removes the profile from the service locator and begins with a new stack."),
    };
    return [
      element("p", { class: "lead" }, word("Good to see you,"), " ", element("strong", {}, profile.name), "."),
      element("p", {}, texts[view.screen.id]),
      quote && quotation(quote),
      can("finish") && keepSwitch(pane),
      element(
        "p",
        { class: "actions" },
        can("next") && button(word("Next"), () => pane.send("next"), "primary"),
        can("finish") && button(word("Finish"), () => pane.finish(), "primary"),
        can("edit") && button(word("Edit the quotation"), () => pane.send("edit")),
      ),
    ];
  },

  "edit-quote.Quote"(view, pane) {
    return [
      quotation(view.screen.data.quote),
      element(
        "p",
        { class: "actions" },
        button(word("Edit"), () => pane.send("edit"), "primary"),
        button(word("Close"), () => pane.send("close")),
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
        element("p", { class: "field" }, element("label", { for: text }, word("Quotation")), words),
        element("p", { class: "field" }, element("label", { for: author }, word("Author")), name),
        element(
          "p",
          { class: "actions" },
          element("button", { class: "primary", type: "submit" }, word("Save")),
          button(word("Cancel"), () => pane.send("cancel")),
        ),
      ),
    ];
  },
};

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
    element("label", { for: `${pane.id}-keep` }, word("Keep the profile")),
    element("span", { class: "hint", id: `${pane.id}-keep-note` }, word("Start over without removing it, and see who is greeted.")),
  );
}
