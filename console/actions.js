// What changes something: a button, a question before, and what came of it.

import { element } from "./dom.js";

const byId = (id) => document.getElementById(id);

export function say(text) {
  byId("status").textContent = text;
  byId("complaint").textContent = "";
}

/** A problem of the server, or a text. Anything else is a mistake of this page. */
export function complain(problem) {
  if (problem.status === 401) return;
  if (problem instanceof Error && problem.status === undefined) throw problem;
  byId("status").textContent = "";
  byId("complaint").textContent = problem.message ?? problem;
}

/** A labelled field. */
export function field(label, name, attributes = {}, choices) {
  const { value, ...others } = attributes;
  const options = choices?.map((choice) => element("option", { value: choice, selected: choice === value }, choice || "any"));
  const control = element(choices ? "select" : "input", { name, ...(choices ? {} : { value, autocomplete: "off" }), ...others }, options ?? []);
  return element("label", { class: "field" }, element("span", {}, label), control);
}

/** Asks whether to do something. Resolves to the values of the fields, or null. */
function ask(title, body, verb) {
  const dialog = byId("question");
  byId("question-title").textContent = title;
  byId("question-body").replaceChildren(...body);
  byId("question-yes").textContent = verb;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const form = dialog.querySelector("form");
    const done = () => resolve(dialog.returnValue === "yes" ? Object.fromEntries(new FormData(form)) : null);
    dialog.addEventListener("close", done, { once: true });
  });
}

/**
 * A button that asks first.
 *
 * @param question its title, what it says, and its fields
 * @param work gets the values of the fields
 * @param then draws what there is after the work, also after a refusal
 */
export function action(label, { key = label, title, text, fields = () => [], done }, work, then = () => {}) {
  const onclick = async () => {
    const answers = await ask(title, [text && element("p", {}, text), ...fields()].filter(Boolean), label);
    if (!answers) return;
    let tell;
    try {
      const result = await work(answers);
      tell = () => say(result ?? done);
    } catch (problem) {
      tell = () => complain(problem);
    }
    await then();
    tell();
  };
  return element("button", { type: "button", "data-key": key, onclick }, label);
}
