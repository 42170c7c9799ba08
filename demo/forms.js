// Forms for events, made of the JSON Schema that the server sends with each event (`?include=schema`). The browser checks
// the simple rules while one types; what a form cannot say, the server checks, and its findings land beside the fields.

import { element, readable } from "./dom.js";
import { word } from "./words.js";

let count = 0;

/** Whether an event takes data, so that it needs a form and not just a button. */
export function takesData(schema) {
  const keywords = ["properties", "required", "type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf"];
  return Boolean(schema) && keywords.some((keyword) => keyword in schema);
}

/**
 * @param schema of the event's data
 * @param known a document whose members fill the fields
 * @param submit is called with the data; what it throws as a Problem is shown beside the fields
 */
export function form(title, schema, known, submit) {
  const fields = schema.properties ? group(schema, known, "") : whole(schema, known);
  const complaint = element("p", { class: "complaint", role: "alert" });
  const made = element(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        complaint.textContent = "";
        for (const field of fields.all()) field.complain("");
        try {
          await submit(fields.read() ?? {});
        } catch (problem) {
          if (problem.code !== "invalid_input") throw problem;
          for (const { pointer, detail } of problem.errors) {
            const path = pointer.replace(/^\/data/, "");
            const field = fields.all().find((candidate) => candidate.path === path);
            if (field) field.complain(plain(detail));
            else complaint.append(reason({ pointer: path, detail }), " ");
          }
          made.querySelector("[aria-invalid=true]")?.focus();
        }
      },
    },
    schema.properties && schema.description && element("p", { class: "hint" }, schema.description),
    fields.nodes,
    complaint,
    element("p", { class: "actions" }, element("button", { class: "primary", type: "submit" }, title)),
  );
  return made;
}

/** A pattern says nothing to a person. An author who wants to say more writes `x-say`, and the server sends that. */
const plain = (detail) => (detail.startsWith("must match the pattern") ? word("does not have the expected form") : detail);

/** What is in the way, and where: an author's sentence stands for itself, the server's words need their place. */
export function reason({ pointer = "", detail }) {
  return /^\p{Lu}/u.test(detail) ? detail : `${pointer.slice(1) || word("This")} ${plain(detail)}.`;
}

/** What names no members of its own, such as `$ref` or `oneOf`, is written as JSON. */
function whole({ title = "Data", description, examples, writeOnly }, known) {
  const texts = examples?.map((example) => JSON.stringify(example));
  const data = field("data", { title, description, examples: texts, writeOnly }, known, "", true);
  return { ...data, all: () => [data] };
}

/** The fields of an object in their author's order. Of an optional object the browser requires nothing: it may be left out. */
function group(schema, known, path, isOptional = false) {
  const required = new Set(schema.required ?? []);
  // Members of JSON have no order. Without `x-order` that of what is required is the author's, too.
  const order = [...new Set([...(schema["x-order"] ?? []), ...required])];
  const place = ([name]) => (order.includes(name) ? order.indexOf(name) : order.length);
  const properties = Object.entries(schema.properties ?? {}).sort((one, other) => place(one) - place(other));
  const members = properties.map(([name, property]) => {
    const pointer = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const make = property.properties ? nested : property.items && choicesOf(property.items) ? several : field;
    return [name, make(name, property, known?.[name], pointer, required.has(name) && !isOptional)];
  });
  return {
    nodes: members.flatMap(([, member]) => member.nodes),
    all: () => members.flatMap(([, member]) => (member.all ? member.all() : [member])),
    read() {
      const entries = members.map(([name, member]) => [name, member.read()]).filter(([, value]) => value !== undefined);
      return isOptional && entries.length === 0 ? undefined : Object.fromEntries(entries);
    },
  };
}

function nested(name, schema, known, path, isRequired) {
  const fields = group(schema, known, path, !isRequired);
  const legend = element("legend", {}, called(name, schema, isRequired));
  const hint = schema.description && element("p", { class: "hint" }, schema.description);
  return { ...fields, nodes: [element("fieldset", {}, legend, hint, fields.nodes)] };
}

/** One value: its label and its control, with remarks. */
function field(name, schema, known, path, isRequired) {
  const id = `field-${++count}`;
  const types = [schema.type ?? []].flat();
  const choices = choicesOf(schema);
  const isFlag = schema.const === true || types.includes("boolean");
  const isNumber = types.includes("integer") || types.includes("number");
  const isText = !isFlag && !isNumber && types.includes("string");
  const isNeeded = isRequired && !types.includes("null") && !(isFlag && schema.const !== true);
  const common = { id, name, required: isNeeded, "aria-describedby": `${id}-complaint ${id}-note` };
  const limits = { maxlength: schema.maxLength, minlength: schema.minLength, autocomplete: "off" };

  let control;
  if (choices) {
    const options = choices.map(({ value, title }, place) =>
      element("option", { value: place, selected: JSON.stringify(value) === JSON.stringify(known) }, title),
    );
    control = element("select", common, element("option", { value: "" }, word("Please choose")), options);
  } else if (isFlag) {
    control = element("input", { ...common, type: "checkbox", checked: known === true });
  } else if (schema.writeOnly) {
    // A value that is only written is never shown: the field stays empty when the screen is drawn again.
    control = element("input", { ...common, ...limits, type: "password" });
  } else if (isNumber) {
    const step = types.includes("integer") ? 1 : "any";
    control = element("input", { ...common, min: schema.minimum, max: schema.maximum, step, type: "number", value: known ?? "" });
  } else if (isText && (schema.maxLength ?? 0) <= 500) {
    const type = { date: "date", email: "email", uri: "url" }[schema.format] ?? "text";
    control = element("input", { ...common, ...limits, type, value: known ?? "" });
  } else {
    const text = isText ? known : known === undefined ? "" : JSON.stringify(known, null, 2);
    control = element("textarea", { ...common, rows: 4 }, text ?? "");
  }

  const { notes, complain } = remarks(id, schema, !choices && !isText && !isFlag && !isNumber);
  const label = element("label", { for: id }, called(name, schema, isRequired));
  const rows = isFlag ? [control, label, notes] : [label, control, notes];
  return {
    path,
    nodes: [element("p", { class: isFlag ? "field flag" : "field" }, rows.flat())],
    complain: (detail) => complain(control, detail),
    read() {
      if (isFlag) return control.checked || isRequired ? control.checked : undefined;
      if (control.value === "") return isRequired && types.includes("null") ? null : undefined;
      if (choices) return choices[control.value].value;
      if (isNumber) return Number(control.value);
      return isText ? control.value : parsed(control.value);
    },
  };
}

/** As many of a list as one likes: a box for each. */
function several(name, schema, known, path, isRequired) {
  const id = `field-${++count}`;
  const boxes = choicesOf(schema.items).map(({ value, title }, place) => {
    const isChosen = Boolean(known?.some?.((one) => JSON.stringify(one) === JSON.stringify(value)));
    const box = element("input", { id: `${id}-${place}`, name, type: "checkbox", checked: isChosen, "aria-describedby": `${id}-complaint ${id}-note` });
    return { value, box, row: element("p", { class: "field flag" }, box, element("label", { for: box.id }, title)) };
  });
  const { notes, complain } = remarks(id, schema);
  return {
    path,
    nodes: [element("fieldset", {}, element("legend", {}, called(name, schema, isRequired)), boxes.map(({ row }) => row), notes)],
    complain: (detail) => complain(boxes[0]?.box, detail),
    read() {
      const chosen = boxes.filter(({ box }) => box.checked).map(({ value }) => value);
      return chosen.length > 0 || isRequired ? chosen : undefined;
    },
  };
}

const called = (name, schema, isRequired) => [schema.title ?? readable(name), isRequired ? null : element("i", {}, word("optional"))];

/** What is to be known of a field, and a place for what is wrong with it. */
function remarks(id, schema, isJSON = false) {
  const hints = [schema.description, schema.examples && word("For example: {examples}", { examples: schema.examples.join(", ") })];
  if (isJSON) hints.push(word("As JSON."));
  const note = element("span", { class: "hint", id: `${id}-note` }, hints.filter(Boolean).join(" "));
  const complaint = element("span", { class: "complaint", id: `${id}-complaint` });
  const complain = (control, detail) => {
    control?.removeAttribute("aria-invalid");
    if (detail) control?.setAttribute("aria-invalid", "true");
    complaint.textContent = detail;
  };
  return { notes: [complaint, note], complain };
}

/** What can be chosen: with titles where the choices come from data, else the values of the schema. */
function choicesOf(schema) {
  if (Array.isArray(schema["x-options"])) return schema["x-options"].map(({ value, title }) => ({ value, title: title ?? String(value) }));
  return schema.enum?.filter((value) => value !== null).map((value) => ({ value, title: readable(String(value)) }));
}

/** What is not JSON goes to the server as text, which says what is wrong with it. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The data of an event, to be shown: dots stand for each member that is only written. */
export function masked(data, schema) {
  const names = new Set();
  const collect = (part) => {
    if (part === null || typeof part !== "object") return;
    for (const [name, property] of Object.entries(part.properties ?? {})) if (property?.writeOnly) names.add(name);
    Object.values(part).forEach(collect);
  };
  collect(schema);
  const hide = (name, value) => (names.has(name) ? "•••" : value);
  return data === undefined || !schema?.writeOnly ? data && JSON.parse(JSON.stringify(data, hide)) : "•••";
}
