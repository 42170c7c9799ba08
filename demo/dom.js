// Small helpers instead of a framework. Texts become text nodes, never markup: nothing that a server or a visitor says can
// bring a script into the page.

/** element("p", { class: "hint", hidden: false }, "Hello ", element("b", {}, "Ada")) */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && typeof value === "boolean") made[key] = value;
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function button(text, onclick, kind = "", attributes = {}) {
  return element("button", { type: "button", class: kind, onclick, ...attributes }, text);
}

/** "sign_in" → "Sign in", "buyerName" → "Buyer name" */
export function readable(name) {
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
